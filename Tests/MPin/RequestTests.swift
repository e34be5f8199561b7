import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import MPin

@Suite("Requests to M-Pin back ends", .timeLimit(.minutes(8)))
struct RequestTests {
    private func configured(_ server: FakeBackEnd) async throws -> MPinBackend {
        try await server.backend { configuration in
            configuration.headers = ["X-Custom": "some value", "User-Agent": "board"]
            configuration.clientID = "the-client"
        }
    }

    @Test("requests to M-Pin have the custom headers and client id for everybody (MPIN 5.1, MPIN checklist 16, 32)")
    func headers() async throws {
        let server = try await FakeBackEnd.start()
        try await server.set(["settings": ["timePermitsStorageURL": "/storage"], "accessNumbers": ["4241703"]])
        try await server.answer("storage", 404)
        try await server.set(["verdict": ["logoutURL": "/logout", "logoutData": ["session": 1]]])
        let requests = try await server.requests {
            let backend = try await configured(server)
            let waiting = try await backend.user(.startedRegistration, named: "bob", at: server)
            _ = try await backend.restartRegistration(waiting)
            let user = try await backend.user(.registered, at: server)
            try await server.answer("storage", 404)
            try await backend.startAuthentication(user, accessCode: "code")
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
            try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703")
            #expect(try await backend.logOut(user))
            _ = try await backend.sessionDetails("code")
            _ = try await server.accounts().serviceDetails(
                at: server.base + "/one/#code", as: backend.configuration)
        }
        let ends = Set(requests.map { $0.path.split(separator: "/").dropFirst().prefix(2).joined(separator: "/") })
        #expect(
            ends == [
                "rps/clientSettings", "rps/user", "rps/signature", "dta/clientSecret", "rps/codeStatus",
                "rps/timePermit", "storage/a0b1", "dta/timePermit", "rps/pass1", "rps/pass2", "mpinAuthenticate",
                "rps/authenticate", "service", "logout",
            ])
        #expect(requests.contains { $0.method == "PUT" && $0.path.contains("/rps/user/") }, "the restart")
        for request in requests {
            #expect(request.header("x-custom") == "some value", "\(request.path)")
            #expect(request.header("user-agent") == "board" && request.header("x-miracl-client-id") == "the-client")
            if request.method == "GET" {
                #expect(
                    request.text.isEmpty && request.header("content-type") == nil && request.header("accept") == nil)
            } else {
                #expect(request.header("content-type") == "application/json; charset=UTF-8")
                #expect(request.header("accept") == "text/plain" && request.body.object != nil)
            }
        }
        let passes = requests.filter { $0.method == "POST" }
        #expect(passes.count >= 6)
    }

    @Test("requests to M-Pin have the account's client id, if it has one (MPIN 5.1, MPIN checklist 32)")
    func clientID() async throws {
        let server = try await FakeBackEnd.start()
        await #expect(throws: MPinError.self) { _ = try await server.backend { $0.clientID = "a\nb" } }
        for id in ["board-7", nil] {
            let backend = try await server.backend(id == nil ? "one" : "two") { $0.clientID = id }
            let user = try await backend.user(.registered, at: server)
            try await backend.startAuthentication(user)
            try await server.set(["verdict": ["code": "the code"]])
            let requests = try await server.requests {
                let code = try await backend.finishAuthenticationMFA(user, pin: MPinBackend.pin)
                #expect(code.exposedText() == "the code")
            }
            #expect(requests.map { $0.header("x-miracl-client-id") } == [id, id, id])
        }
    }

    @Test("requests to register have exactly the members that were given (MPIN 5.5, MPIN checklist 18)")
    func registration() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        var requests = try await server.requests {
            _ = try await backend.startRegistration(
                backend.makeUser("alice", deviceName: ""), activateCode: SecretBytes([]), userData: "")
            _ = try await backend.startRegistration(
                backend.makeUser("bob", deviceName: "board"), activateCode: SecretBytes(utf8: "12"), userData: "data")
        }
        #expect(requests.map(\.method) == ["PUT", "PUT"] && Set(requests.map(\.path)) == ["/one/rps/user"])
        // A number, and not 1.0 or "1".
        #expect(requests[0].text == #"{"mobile":1,"userId":"alice"}"#)
        #expect(
            requests[1].body == [
                "userId": "bob", "mobile": 1, "deviceName": "board", "userData": "data", "activateCode": "12",
            ])

        let bob = try await backend.user("bob")
        let identity = try #require(try await backend.requireOpen()["bob"]?.identity)
        requests = try await server.requests { _ = try await backend.restartRegistration(bob, userData: "more") }
        #expect(requests.map(\.path) == ["/one/rps/user/\(identity.hex)"])
        let text = try #require(requests[0].body["regOTT"]?.string)
        #expect(
            requests[0].body == [
                "userId": "bob", "mobile": 1, "deviceName": "board", "userData": "more", "regOTT": .string(text),
            ])
    }

    @Test("a restarted registration that had ended gets another identity (MPIN 5.5, MPIN checklist 19)")
    func anotherIdentity() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.startedRegistration, at: server)
        let before = try await backend.store.read()
        _ = try await backend.restartRegistration(user)
        #expect(try await backend.store.read() == before)
        let identity = Array(#"{"userID":"alice","mobile":1,"salt":"00","issued":"now"}"#.utf8)
        try await server.patch("user", ["mpinId": .string(Hex.encode(identity)), "regOTT": "another"])
        _ = try await backend.restartRegistration(user)
        let after = try await backend.store.read()
        let issued = try #require(MPinID(bytes: identity))
        #expect(after.secrets == [issued: .registration(SecretBytes(utf8: "another"))])
        #expect(Array(after.entries.keys) == [issued])
        #expect(try await server.restarted().users().map(\.id) == ["alice"])
    }

    @Test(
        "requests for client secrets pass on params and push identifier (MPIN 5.6, MPIN checklist 20, 21)")
    func confirmation() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.activated, at: server)
        let identity = try #require(try await backend.requireOpen()["alice"]?.identity)
        let hash = Hex.encode(identity.hash).uppercased()
        let query = "hash_user_id=&app_id=A%2fb&hash_mpin_id=\(hash)&expires=2026%3A&signature=zz&mobile=1"
        try await server.patch("signature", ["params": .string(query)])
        let requests = try await server.requests {
            _ = try await backend.confirmRegistration(user, pushIdentifier: "a b&c=ü")
        }
        #expect(requests.map(\.path) == ["/one/rps/signature/\(identity.hex)", "/one/dta/clientSecret"])
        #expect(requests[1].query == query)
        let text = try #require(requests[0].query.firstMatch(of: /^regOTT=([0-9a-f]{32})&pmiToken=(.*)$/))
        #expect(text.2 == "a%20b%26c%3D%C3%BC")

        let other = try await backend.user(.activated, named: "bob", at: server)
        try await server.behave()
        let plain = try await server.requests { _ = try await backend.confirmRegistration(other, pushIdentifier: "") }
        #expect(plain[0].query.wholeMatch(of: /regOTT=[0-9a-f]{32}/) != nil)
    }

    @Test("requests of both passes and the verdict follow the protocol (MPIN 5.8, MPIN checklist 24, 25, 26)")
    func passes() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        // No JSON value of the program would give this text again.
        let proof = #"{ "pass":2, "authOTT": "00ff", "big":123456789012345678901234567890, "d":1.50, "authOTT2":null }"#
        for (number, endpoint) in [(nil, "mpinAuthenticate"), ("4241703", "rps/authenticate")] as [(String?, String)] {
            for wantsPassword in number == nil ? [false, true] : [false] {
                try await server.set([
                    "answers": [
                        "pass2": [200, .string(proof)], "authenticate": [200, "{}"], "mobileAuthenticate": [200, ""],
                    ]
                ])
                let requests = try await server.requests {
                    if let number {
                        try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: number)
                    } else if wantsPassword {
                        _ = try await backend.finishAuthenticationOTP(user, pin: MPinBackend.pin)
                    } else {
                        _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
                    }
                }
                #expect(requests.map(\.path) == ["/one/rps/pass1", "/one/rps/pass2", "/one/" + endpoint])
                let identity = try #require(try await backend.requireOpen()["alice"]?.identity.hex)
                let point = /04[0-9a-f]{128}/
                let (first, second) = (requests[0].text, requests[1].text)
                #expect(
                    first.wholeMatch(
                        of: try Regex(
                            #"\{"U":"04[0-9a-f]{128}","UT":"04[0-9a-f]{128}","mpin_id":"\#(identity)","pass":1\}"#))
                        != nil)
                #expect(requests[1].body["V"]?.string?.wholeMatch(of: point) != nil)
                #expect(second.contains(#""OTP":\#(wantsPassword),"#) && second.contains(#""pass":2}"#))
                #expect(requests[1].body["WID"] == .string(number ?? "0"))
                #expect(requests[1].body["mpin_id"] == .string(identity) && requests[1].body.object?.count == 5)
                #expect(requests[2].text == #"{"mpinResponse":"# + proof + "}")
            }
        }
    }

    @Test("a request that the back end holds until a browser comes is waited for longer (MPIN 5.10)")
    func patience() {
        #expect(MPinExchange.patience >= .seconds(30))
        let order = MPinExchange.Order(.passOne, "POST", "https://example.org/rps?secret", "/pass1?more")
        #expect(order.timeout > .zero && order.timeout <= .seconds(60))
        #expect(order.place == "https://example.org/rps")
    }
}
