import Cryptography
import Foundation
import Groundwork
import Testing

@testable import MPin

@Suite("Sessions and passwords of M-Pin", .timeLimit(.minutes(8)))
struct SessionTests {
    @Test("session details have two spellings, and need an address to ask (MPIN 5.11, MPIN checklist 27)")
    func details() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        var requests = try await server.requests {
            let details = try await backend.sessionDetails("0123")
            #expect(details.prerollID == "alice" && details.appName == "Example")
            #expect(details.appLogoURL == "https://example.org/logo.png")
        }
        #expect(requests.map(\.body) == [["status": "wid", "wid": "0123"]])
        try await server.patch("codeStatus", ["prerollId": "bob", "appName": "Other", "appLogoURL": "x"])
        let details = try await backend.sessionDetails("0123")
        #expect([details.prerollID, details.appName, details.appLogoURL] == ["bob", "Other", "x"])
        try await server.answer("codeStatus", 200, #"{"Status":"OK"}"#)
        #expect(try await backend.sessionDetails("0123") == MPinSessionDetails())
        // Who is about to log in is reported, and a failure of that changes nothing.
        let user = try await backend.user(.registered, at: server)
        for code in [0, 500, 200] as [Int64] {
            try await server.answer("codeStatus", code, "no JSON")
            requests = try await server.requests { try await backend.startAuthentication(user, accessCode: "0123") }
            #expect(requests[0].body == ["status": "user", "wid": "0123", "userId": "alice"])
        }
        requests = try await server.requests { try await backend.startAuthentication(user, accessCode: "") }
        #expect(!requests.contains { $0.path.hasSuffix("codeStatus") })

        for missing in ["", nil] as [JSON] {
            try await server.set(["answers": [:], "patches": ["clientSettings": ["codeStatusURL": missing]]])
            try await backend.connect()
            requests = try await server.requests {
                #expect(try await backend.sessionDetails("0123") == MPinSessionDetails())
                try await backend.startAuthentication(user, accessCode: "0123")
            }
            #expect(!requests.contains { $0.path.hasSuffix("codeStatus") })
        }
    }

    @Test("a scanned code leads to a service only if it is online (MPIN 5.3, MPIN checklist 28)")
    func service() async throws {
        let server = try await FakeBackEnd.start()
        let accounts = server.accounts()
        let requests = try await server.requests {
            let details = try await accounts.serviceDetails(at: server.base + "/one/#0123456789abcdef")
            #expect(details.name == "Example" && details.url == server.base && details.prefix == "rps")
        }
        #expect(requests.map(\.path) == ["/one/service"])
        for members in [["type": "offline"], ["type": nil], ["url": ""], ["name": nil], ["rps_prefix": 1]] as [JSON] {
            try await server.patch("service", members)
            #expect(
                await status { _ = try await accounts.serviceDetails(at: server.base + "/one") }
                    == .responseParseError, "\(members.text)")
        }
    }

    @Test("access numbers are checked only where they have a check digit (MPIN 5.13, MPIN checklist 29)")
    func accessNumbers() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let requests = try await server.requests {
            try await backend.checkAccessNumber("4241703")
            #expect(await status { try await backend.checkAccessNumber("6419791") } == .incorrectAccessNumber)
            #expect(await status { try await backend.checkAccessNumber("") } == .incorrectAccessNumber)
        }
        #expect(requests.isEmpty)
        for change in [["cSum": nil], ["accessNumberDigits": 6], ["accessNumberUseCheckSum": false]] as [JSON] {
            try await server.patch("clientSettings", change)
            try await backend.connect()
            try await backend.checkAccessNumber("6419791")
            #expect(await status { try await backend.checkAccessNumber("") } == .incorrectAccessNumber)
        }
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        let none = try await server.requests {
            #expect(
                await status {
                    try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "")
                } == .incorrectAccessNumber)
        }
        #expect(none.isEmpty)
        #expect(
            await status {
                try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "unknown")
            } == .incorrectAccessNumber)
        try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703")
    }

    @Test("logging out of M-Pin sends the object of the login once (MPIN 5.12, MPIN checklist 30)")
    func logOut() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        func logIn(_ verdict: JSON) async throws {
            try await server.set(["verdict": verdict])
            try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703")
        }
        for verdict in [
            [:], ["logoutURL": "/logout", "logoutData": "text"], ["logoutURL": "", "logoutData": [:]],
            ["logoutData": [:]], ["logoutURL": "/logout"], ["logoutURL": 1, "logoutData": [:]],
        ] as [JSON] {
            try await logIn(verdict)
            let requests = try await server.requests {
                let (can, done) = (try await backend.canLogOut(user), try await backend.logOut(user))
                #expect(!can && !done, "\(verdict.text)")
            }
            #expect(requests.isEmpty)
        }
        let data: JSON = ["session": "s", "nested": ["a": [1, 2]]]
        for url in ["/logout", "logout", "\(server.base)/one/logout"] {
            try await logIn(["logoutURL": .string(url), "logoutData": data])
            #expect(try await backend.canLogOut(user))
            try await server.answer("logout", 500)
            #expect(await status { _ = try await backend.logOut(user) } == .httpServerError)
            #expect(try await backend.canLogOut(user))
            try await server.behave()
            var isDone = false
            let requests = try await server.requests { isDone = try await backend.logOut(user) }
            #expect(isDone)
            #expect(requests.map(\.body) == [data] && requests.map(\.path) == ["/one/logout"])
            #expect(try await backend.canLogOut(user) == false)
        }
        // A failed login leaves none, and a plain one does not touch it.
        try await logIn(["logoutURL": "/logout", "logoutData": data])
        _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
        #expect(try await backend.canLogOut(user))
        try await server.answer("mobileAuthenticate", 408)
        await #expect(throws: MPinError.self) { try await logIn([:]) }
        #expect(try await backend.canLogOut(user) == false)
    }

    @Test("an M-Pin one-time password comes with its times and a status (MPIN 6, MPIN checklist 31)")
    func password() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        func password(_ verdict: JSON) async throws -> MPinOneTimePassword {
            try await server.set(["verdict": verdict])
            return try await backend.finishAuthenticationOTP(user, pin: MPinBackend.pin)
        }
        let times: JSON = ["expireTime": 1_700_000_090_999, "ttlSeconds": 90, "nowTime": 1_700_000_000_999.0]
        let issued = try await password(times)
        #expect(issued.status == .ok && issued.password?.exposedText() == "123456")
        #expect([issued.expireTime, issued.ttlSeconds, issued.nowTime] == [1_700_000_090, 90, 1_700_000_000])
        for name in ["expireTime", "ttlSeconds", "nowTime"] {
            for value in [nil, 0, "x"] as [JSON] {
                var changed = times.object ?? [:]
                changed[name] = value
                let other = try await password(.object(changed))
                #expect(other.status == .responseParseError && other.password != nil, "\(name) \(value)")
            }
        }
        for none in [nil, ""] as [JSON] {
            try await server.patch("pass2", ["OTP": none])
            let other = try await password(times)
            #expect(other.status == .flowError && other.password == nil)
        }
        // It is not shown by accident.
        #expect(!"\(issued)".contains("123456"))
    }

    @Test("an M-Pin login for an authorization code fails without one (MPIN 6, MPIN checklist 32)")
    func code() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        for verdict in [[:], ["code": ""], ["code": 1]] as [JSON] {
            try await server.set(["verdict": verdict])
            #expect(
                await status { _ = try await backend.finishAuthenticationMFA(user, pin: MPinBackend.pin) }
                    == .responseParseError)
        }
        try await server.set(["verdict": ["code": "abc"]])
        let code = try await backend.finishAuthenticationMFA(user, pin: MPinBackend.pin)
        #expect(code.exposedText() == "abc")
    }

    @Test("the application's answer to an M-Pin login is handed on as it came (MPIN 5.10)")
    func data() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        let text = #"{ "b": 1.50, "a": [null] }"#
        try await server.answer("authenticate", 200, text)
        #expect(try await backend.finishAuthentication(user, pin: MPinBackend.pin) == text)
        try await server.answer("authenticate", 200, " \n")
        #expect(try await backend.finishAuthentication(user, pin: MPinBackend.pin) == "{}")
    }
}
