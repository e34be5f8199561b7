import Foundation
import GatewayLab
import TestSupport
import Testing

/// People log in on a board at its terminal, and let other boards in.
@Suite("Login", .serialized, .timeLimit(.minutes(15)))
struct LoginTests {
    /// For a slow machine: who is asked, and who has to scan a code, has longer.
    private static let patient = "[proximity]\nconsent_seconds = 110\n[login]\npoll_limit = 60\n"

    private func enroll(_ board: TestBoard, at lab: Lab) async throws {
        _ = try await board.enroll(at: lab)
        _ = try await board.status { $0.isConnected }
    }

    private func logIn(_ board: TestBoard, as user: String = "alice", password: String = "alice-password") async throws
        -> Program.Result
    {
        try await board.latchkey("login", "--user", user, "--password-stdin", "--json", input: password + "\n")
    }

    @Test("a login by password shows the user, and logout ends it at the gateway but not the board's (MAG 12.4)")
    func password() async throws {
        try await withLabAndBoard { lab, board in
            try await enroll(board, at: lab)
            #expect(try await board.latchkey("whoami").status == 1)
            #expect(try await board.latchkey("whoami", "--info").status == 1)
            #expect(try await logIn(board).status == 0)
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            #expect(try await board.ask("whoami", "--info")["preferred_username"] as? String == "alice")
            #expect(await lab.loggedIn().values.joined().contains("alice"))

            #expect(try await board.latchkey("logout").status == 0)
            #expect(try await board.latchkey("whoami").status == 1)
            #expect(await !lab.loggedIn().values.joined().contains("alice"))
            let status = try await board.status()
            #expect(status.registration.state == "registered")
            #expect(status.user == nil)
        }
    }

    @Test("a login with a wrong password fails without showing it, and keeps the logged-in user")
    func wrongPassword() async throws {
        try await withLabAndBoard { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let refused = try await logIn(board, as: "bob", password: "not-bobs-word")
            #expect(refused.status != 0)
            #expect(refused.errors.contains("gateway.user-credentials-invalid"))
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            let log = try #require(board.daemon?.errors.text)
            #expect(!(refused.errors + log).contains("not-bobs-word") && !log.contains("alice-password"))
        }
    }

    @Test("a login survives a restart of the daemon")
    func restart() async throws {
        try await withLabAndBoard { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            try await board.stop(SIGKILL)
            try await board.start()
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
        }
    }

    @Test("a login registers a board that was enrolled without registration")
    func registersByPassword() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            let enrolled = try await board.enroll("--no-register", url)
            #expect(enrolled.registration.state == "unregistered")
            #expect(await lab.devices().isEmpty)
            #expect(try await board.latchkey("token").errors.contains("latchkey login"))
            #expect(try await logIn(board).status == 0)
            _ = try await board.status { $0.isConnected }
            #expect(await lab.devices().map(\.user) == ["alice"])
        }
    }

    @Test("a login by QR code needs another board's consent, then registers and logs in (MAG 7.3)")
    func qrCode() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let other = try TestBoard(settings: Self.patient)
            do {
                try await other.start()
                _ = try await other.enroll("--no-register", try await lab.mintEnrollmentURL())
                let picture = other.folder.appending(path: "code.svg").path
                let showing = try other.follow("login", "--qr", "--picture", picture)
                let code = try await showing.output.line(containing: #""event":"qr-code""#)
                let url = try #require(value(try json(code), "data", "text") as? String)
                #expect(try String(contentsOfFile: picture, encoding: .utf8).hasPrefix("<svg"))

                let letting = try board.follow("authorize", url, "--name", "the other board")
                let question = try await board.question()
                #expect(question["name"] as? String == "the other board")
                #expect(try await board.latchkey("consent", "grant", "\(question["id"] ?? 0)", "--json").status == 0)
                #expect(try await letting.ended() == 0)
                #expect(try await showing.ended() == 0)
                let events = try showing.output.lines.map { value(try json($0), "event") as? String }
                #expect(events.first == "qr-code" && events.last == "logged-in")
                #expect(events.contains("proximity.authorization-code-received"))
                #expect(try await other.ask("whoami")["userName"] as? String == "alice")
                #expect(await lab.devices().compactMap(\.user) == ["alice"])

                let records = try await board.ask("proximity", "audit")["records"] as? [[String: Any]]
                #expect(records?.map { $0["outcome"] as? String } == ["authorized"])
                let again = try await board.latchkey(
                    "authorize", "--json", "https://elsewhere.example/auth/device/authorization/1")
                #expect(again.status != 0 && again.errors.contains("proximity.invalid-authorize-url"))
            } catch {
                try? await other.tearDown()
                throw error
            }
            try await other.tearDown()
        }
    }

    @Test("a login by QR code is refused and undone if another user than expected lets the board in")
    func unexpectedUser() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            _ = try await board.enroll("--no-register", try await lab.mintEnrollmentURL())
            let showing = try board.follow("login", "--qr", "--expect", "alice")
            let code = try await showing.output.line(containing: #""event":"qr-code""#)
            let url = try #require(value(try json(code), "data", "text") as? String)
            try await lab.authorize(String(url.split(separator: "/").last ?? ""), as: "bob")
            #expect(try await showing.ended() != 0)
            #expect(showing.errors.text.contains("proximity.unexpected-user"))
            #expect(try await board.latchkey("whoami").status == 1)
            #expect(await !lab.loggedIn().values.joined().contains("bob"))
            #expect(await lab.devices().isEmpty)
        }
    }

    @Test("logins by QR code come one at a time, and end with the command that shows the code")
    func oneAtATime() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            let first = try board.follow("login", "--qr")
            _ = try await first.output.line(containing: #""event":"qr-code""#)
            let second = try await board.latchkey("login", "--qr", "--json")
            #expect(second.status == 75 && second.errors.contains("proximity.login-in-progress"))
            try await first.stop(SIGKILL)
            // The daemon hears of the end by itself, a moment later.
            let third = try await self.showing(at: board)
            try await third.stop(SIGKILL)
        }
    }

    /// A log-in by QR code, as soon as none is in its way.
    private func showing(at board: TestBoard) async throws -> RunningProgram {
        let end = ContinuousClock.now + .seconds(60)
        repeat {
            let showing = try board.follow("login", "--qr")
            do {
                _ = try await showing.output.line(containing: #""event":"qr-code""#)
                return showing
            } catch {
                #expect(showing.errors.text.contains("proximity.login-in-progress"))
            }
        } while ContinuousClock.now < end
        throw Unexpected("a log-in by QR code goes on without its reader")
    }

    @Test("a request made for a user who has logged out is not carried out for the next user")
    func nextUser() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let url = "\(lab.baseURL)/auth/device/authorization/0123456789abcdef0123456789abcdef"
            let asking = try board.follow("authorize", url)
            _ = try await board.question()
            #expect(try await logIn(board, as: "bob", password: "bob-password").status == 0)
            let answering = try RunningProgram(
                Program.shipped.url, ["consent", "ask", "--json", "--socket", board.socket], input: "y\n")
            #expect(try await answering.output.line(containing: "granted").hasPrefix("{"))
            #expect(try await asking.ended() != 0)
            #expect(try await answering.stop(SIGINT) != 0 && !answering.output.text.contains("Let it in"))
            let record = try #require(try await board.ask("proximity", "audit")["records"] as? [[String: Any]]).last
            #expect(record?["code"] as? String == "gateway.user-required")
        }
    }

    @Test("a refused login or missing consent lets no device in, and a second answer does not count")
    func refusal() async throws {
        let settings = "[proximity]\nconsent_seconds = 25"
        try await withLabAndBoard(settings: settings) { lab, board in
            try await enroll(board, at: lab)
            let url = "\(lab.baseURL)/auth/device/authorization/0123456789abcdef0123456789abcdef"
            let nobody = try await board.latchkey("authorize", "--json", url)
            #expect(nobody.errors.contains("proximity.no-user-session"))
            #expect(try await logIn(board).status == 0)

            let refused = try board.follow("authorize", url)
            let id = try #require(try await board.question()["id"])
            #expect(try await board.latchkey("consent", "refuse", "\(id)", "--json").status == 0)
            #expect(try await refused.ended() != 0)
            #expect(refused.errors.text.contains("proximity.user-declined"))
            let late = try await board.latchkey("consent", "grant", "\(id)", "--json")
            #expect(late.errors.contains("proximity.no-such-request"))

            let again = try await board.latchkey("authorize", "--json", url)
            #expect(again.status != 0 && again.errors.contains("proximity.request-replayed"))
            let silent = try board.follow(
                "authorize", "\(lab.baseURL)/auth/device/authorization/fedcba9876543210fedcba9876543210")
            #expect(try await silent.ended() != 0)
            #expect(silent.errors.text.contains("the question was not answered in time"))
        }
    }

    @Test("the button gives consent with a short press, and refuses with a long one")
    func button() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let url = "\(lab.baseURL)/auth/device/authorization/0123456789abcdef0123456789abcdef"
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")

            let granted = try board.follow("authorize", url, "--name", "short")
            _ = try await events.output.line(containing: "proximity.consent-asked")
            try await press(board, milliseconds: 150)
            // The gateway knows no such session: consent was given, and the call that followed says so.
            #expect(try await granted.ended() != 0)
            #expect(granted.errors.text.contains("proximity.authorization-failed"))
            let answered = try await events.output.line(containing: "proximity.consent-answered")
            #expect(answered.contains(#""by":"button""#) && answered.contains(#""decision":"granted""#))

            let other = "\(lab.baseURL)/auth/device/authorization/fedcba9876543210fedcba9876543210"
            let refused = try board.follow("authorize", other, "--name", "long")
            _ = try await board.question()
            try await press(board, milliseconds: 1800)
            #expect(try await refused.ended() != 0)
            #expect(refused.errors.text.contains("proximity.user-declined"))
            try await events.stop(SIGKILL)
        }
    }

    @Test("the button lets no device in while several ask, but one that asks alone afterwards")
    func severalAtTheButton() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let url = "\(lab.baseURL)/auth/device/authorization/"
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let stranger = try board.follow("authorize", url + "0123456789abcdef0123456789abcdef", "--name", "stranger")
            _ = try await events.output.line(containing: "proximity.consent-asked")
            let friend = try board.follow("authorize", url + "fedcba9876543210fedcba9876543210", "--name", "friend")
            _ = try await events.output.line(containing: "proximity.ambiguous")
            try await press(board, milliseconds: 150)
            for asking in [stranger, friend] {
                #expect(try await asking.ended() != 0)
                #expect(asking.errors.text.contains("proximity.request-ambiguous"))
            }
            let alone = try board.follow("authorize", url + "fedcba9876543210fedcba9876543210", "--name", "friend")
            _ = try await events.output.line(containing: "proximity.unambiguous")
            try await press(board, milliseconds: 150)
            // The gateway knows no such session: consent was given, and the call that followed says so.
            #expect(try await alone.ended() != 0)
            #expect(alone.errors.text.contains("proximity.authorization-failed"))
            let records = try #require(try await board.ask("proximity", "audit")["records"] as? [[String: Any]])
            #expect(records.map { $0["decision"] as? String } == ["ambiguous", "ambiguous", "granted"])
            #expect(records.map { $0["user"] as? String } == ["alice", "alice", "alice"])
            try await events.stop(SIGKILL)
        }
    }

    @Test("a scanned code with another address of the gateway is refused without a call or a question")
    func otherAddresses() async throws {
        try await withLabAndBoard(settings: Self.patient) { lab, board in
            try await enroll(board, at: lab)
            #expect(try await logIn(board).status == 0)
            let calls = lab.requestCounts[.echo] ?? 0
            for path in ["/lab/echo?transfer=1000&to=mallory", "/connect/session/logout;x"] {
                let refused = try await board.latchkey("authorize", "--json", lab.baseURL + path)
                #expect(refused.status != 0 && refused.errors.contains("proximity.invalid-authorize-url"))
            }
            #expect(lab.requestCounts[.echo] ?? 0 == calls)
            #expect((try await board.ask("proximity", "audit")["records"] as? [Any])?.count == 0)
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
        }
    }

    /// What is tested is how long a person holds it, which a busy machine must not change.
    private func press(_ board: TestBoard, milliseconds: Int) async throws {
        let press = #"{"milliseconds":\#(milliseconds)}"#
        #expect(try await LocalRequest.post(press, to: "/v1/board/button", socket: board.socket) == 200)
    }

    private func json(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}
