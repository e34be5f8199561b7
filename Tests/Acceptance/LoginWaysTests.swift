import Foundation
import GatewayLab
import TestSupport
import Testing

/// Every way to log in, as a person and as a program use it.
@Suite("Ways to log in", .serialized, .timeLimit(.minutes(15)))
struct LoginWaysTests {
    func withRegisteredBoard(
        settings: String = "[login]\npoll_limit = 60", _ change: (inout LabConfiguration) -> Void = { _ in },
        _ body: (Lab, TestBoard, PhoneBrowser) async throws -> Void
    ) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        change(&configuration)
        try await withLabAndBoard(configuration, settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board, try PhoneBrowser(trusting: lab, in: board.folder))
        }
    }

    private func onTerminal(_ board: TestBoard, columns: UInt16 = 500, _ arguments: String...) throws -> TerminalProgram
    {
        try TerminalProgram(Program(name: "latchkey").url, arguments + ["--socket", board.socket], columns: columns)
    }

    /// A request of the local API, as another program sends it.
    func send(_ board: TestBoard, _ method: String, _ path: String, _ body: [String: Any]? = nil) async throws
        -> [String: Any]
    {
        let text = try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        let result = try await Program(url: URL(filePath: "/usr/bin/curl")).run(
            ["-sS", "-m", "150", "--unix-socket", board.socket, "-X", method, "http://localhost\(path)"]
                + (text.map { ["--data-binary", $0] } ?? []))
        guard result.status == 0 else { throw Unexpected("\(method) \(path): \(result.errors)") }
        return try result.json
    }

    func isLoggedIn(_ board: TestBoard, as user: String = "alice") async throws -> Bool {
        try await board.ask("whoami")["userName"] as? String == user
    }

    private func json(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    /// The address that a login shows to be opened.
    private func address(_ text: String) throws -> String {
        String(try #require(text.firstMatch(of: /https:\/\/\S+/)?.0))
    }

    // MARK: Providers

    @Test("a person chooses one of the gateway's providers by name, and each leads to its own page (MAG 7.1)")
    func providers() async throws {
        try await withRegisteredBoard { _, board, browser in
            let listed = try await board.ask("login", "--providers")
            let names = ["facebook", "google", "salesforce", "linkedin", "enterprise"]
            #expect(listed["providers"] as? [String] == names && listed["takesPasswords"] as? Bool == true)
            for name in names {
                let logIn = try board.follow("login", "--provider", name.uppercased())
                _ = try await logIn.errors.line(containing: "Open this address")
                let shown = try address(try await logIn.errors.line(containing: "https://"))
                let end = try await browser.logIn(at: shown, as: name == "google" ? "bob" : "alice")
                #expect(end.pages.first?.contains(name == "enterprise" ? "the Latchkey lab" : name) == true)
                #expect(try await logIn.ended() == 0)
                #expect(try await isLoggedIn(board, as: name == "google" ? "bob" : "alice"))
                #expect(try await board.latchkey("logout").status == 0)
            }
            let none = try await board.latchkey("login", "--provider", "myspace", "--json")
            #expect(none.status != 0 && none.errors.contains("agent.provider-not-offered"))
            #expect(none.errors.contains("facebook, google, salesforce, linkedin, enterprise"))
        }
    }

    @Test("a gateway that names one provider to use leaves only that one to choose (MAG 7.1, idp)")
    func onlyProvider() async throws {
        try await withRegisteredBoard({ $0.identityProvider = "salesforce" }) { _, board, _ in
            let begun = try await send(board, "POST", "/v1/login/browser", [:])
            #expect(begun["provider"] as? String == "salesforce" && begun["takesPasswords"] as? Bool == false)
            #expect((begun["providers"] as? [[String: Any]])?.count == 1)
            let other = try await board.latchkey("login", "--provider", "facebook", "--json")
            #expect(other.errors.contains("agent.provider-not-offered"))
            let id = try #require(begun["id"] as? String)
            #expect(try await send(board, "DELETE", "/v1/login/browser/\(id)")["canceled"] as? String == id)
            let late = try await send(board, "POST", "/v1/login/browser/\(id)", ["poll": true])
            #expect(value(late, "error", "code") as? String == "agent.no-such-log-in")
        }
    }

    @Test("a login at a terminal offers the providers to choose from, and takes the address of the end")
    func chosenAtTerminal() async throws {
        try await withRegisteredBoard { _, board, browser in
            let logIn = try onTerminal(board, "login", "--browser")
            try await logIn.shows("Provider [enterprise]:")
            logIn.type("linkedin\n")
            try await logIn.shows("Address:")
            let end = try await browser.logIn(at: try address(logIn.screen.text))
            #expect(end.pages.first?.contains("linkedin") == true)
            logIn.type(end.address + "\n")
            #expect(try await logIn.ended() == 0)
            #expect(logIn.screen.text.contains("logged in as alice"))
        }
    }

    @Test("the gateway's own login page is opened where the settings allow it (MAG 7.2)")
    func page() async throws {
        try await withRegisteredBoard { _, board, browser in
            let logIn = try onTerminal(board, "login", "--page")
            try await logIn.shows("Address:")
            let shown = try address(logIn.screen.text)
            #expect(shown.contains("/auth/oauth/v2/authorize/login?action=display"))
            logIn.type(try await browser.logIn(at: shown).address + "\n")
            #expect(try await logIn.ended() == 0)
            #expect(try await isLoggedIn(board))
        }
        try await withRegisteredBoard(settings: "[login]\npage = false") { _, board, _ in
            let refused = try await board.latchkey("login", "--page", "--json")
            #expect(refused.status != 0 && refused.errors.contains("agent.page-not-enabled"))
            #expect(refused.errors.contains("180000"))
        }
    }

    @Test("a login by a browser of the board itself ends at the command, on the loopback interface (RFC 8252)")
    func loopback() async throws {
        try await withRegisteredBoard({ $0.masterClients[0].redirectURI = "http://127.0.0.1/done" }) {
            _, board, browser in
            let logIn = try board.follow("login", "--page")
            _ = try await logIn.errors.line(containing: "Open this address")
            let end = try await browser.logIn(at: try address(try await logIn.errors.line(containing: "https://")))
            let elsewhere = try #require(URL(string: end.address)?.port)
            #expect(try await browser.open("http://127.0.0.1:\(elsewhere)/favicon.ico").text.contains("Not here"))
            #expect(try await browser.open(end.address).text.contains("this page can be closed"))
            #expect(try await logIn.ended() == 0)
            #expect(try await isLoggedIn(board))
        }
    }

    @Test("a login by a phone ends by itself: the phone scans the address, and the board finds out")
    func phone() async throws {
        try await withRegisteredBoard { _, board, browser in
            let picture = board.folder.appending(path: "address.svg").path
            let logIn = try board.follow("login", "--phone", "--picture", picture)
            let shown = try address(try await logIn.errors.line(containing: "https://"))
            #expect(shown.contains("/enterprise/login?sessionID="))
            #expect(try String(contentsOfFile: picture, encoding: .utf8).hasPrefix("<svg"))
            #expect(try await browser.logIn(at: shown, as: "bob").address.hasPrefix("http://127.0.0.1:"))
            #expect(try await logIn.ended() == 0)
            #expect(try await isLoggedIn(board, as: "bob"))
        }
    }

    // MARK: Shown codes

    @Test("another program sees the shown login code and can end it; the settings say how often is asked")
    func shownCode() async throws {
        let settings = "[login]\npoll_delay_seconds = 0\npoll_seconds = 1\npoll_limit = 2"
        try await withRegisteredBoard(settings: settings) { lab, board, _ in
            #expect(try await send(board, "GET", "/v1/login/nearby")["isShown"] as? Bool == false)
            let waiting = try board.follow("login", "--qr")
            #expect(try await waiting.ended() != 0)
            #expect(waiting.errors.text.contains("proximity.not-authorized-in-time"))
            let polled = try waiting.output.lines.map(json).filter {
                value($0, "event") as? String == "proximity.polled"
            }
            #expect(polled.map { value($0, "data", "limit") as? Int } == [2, 2])
        }
        try await withRegisteredBoard { _, board, _ in
            let showing = try board.follow("login", "--qr")
            let code = try json(try await showing.output.line(containing: #""event":"qr-code""#))
            let seen = try await send(board, "GET", "/v1/login/nearby")
            #expect(value(seen, "code", "text") as? String == value(code, "data", "text") as? String)
            #expect(try await board.latchkey("login", "--stop").output.contains("no longer shown"))
            #expect(try await showing.ended() != 0)
            #expect(showing.errors.text.contains("agent.log-in-stopped"))
            #expect(try await board.latchkey("login", "--stop").output.contains("no code is shown"))
        }
    }

    @Test("the code of a device that scanned is handed to a program, which logs in with it when it wants to")
    func handedOver() async throws {
        try await withRegisteredBoard { lab, board, _ in
            let begun = try await send(
                board, "POST", "/v1/login/browser", ["provider": "qrcode", "picture": true])
            let id = try #require(begun["id"] as? String)
            let url = try #require(begun["url"] as? String)
            #expect(value(begun, "picture", "text") as? String == url)
            let ask: [String: Any] = ["poll": true, "hand": true]
            #expect(try await send(board, "POST", "/v1/login/browser/\(id)", ask)["code"] == nil)
            try await lab.authorize(url, as: "alice")
            let handed = try await send(board, "POST", "/v1/login/browser/\(id)", ask)
            #expect(handed["loggedIn"] as? Bool == false)
            #expect(try await board.latchkey("whoami").status == 1)
            let completion = ["code": try #require(handed["code"]), "state": try #require(handed["state"])]
            let user = try await send(board, "POST", "/v1/login/browser/\(id)", completion)
            #expect(user["userName"] as? String == "alice")
            let again = try await send(board, "POST", "/v1/login/browser/\(id)", completion)
            #expect(value(again, "error", "code") as? String == "agent.no-such-log-in")
        }
    }
}
