import Agent
import Foundation
import Groundwork
import LocalAPI
import Testing

@testable import latchkey

@Suite("What the command prints and how it ends")
struct CommandTests {
    /// As it is here, and as it is when the daemon says it.
    private func statuses(of code: String) throws -> Set<Int32> {
        let kind = try #require(Explain.catalogue.entries(named: code).first { $0.category == .error }?.kind)
        let said = try #require(Explanation(answer: Explanation(code, kind, "").answer))
        return [kind.exitStatus.rawValue, LocalAPIError.remote(status: kind.httpStatus, said).kind.exitStatus.rawValue]
    }

    @Test(
        "the exit status is of sysexits.h, by the kind of the error",
        arguments: [
            ("local-api.daemon-not-running", 69), ("local-api.no-answer", 69), ("local-api.access-denied", 77),
            ("agent.topic-reserved", 77), ("local-api.not-found", 64),
            ("local-api.stopping", 75), ("local-api.too-many-requests", 75), ("local-api.cannot-listen", 78),
            ("http.cannot-resolve", 75), ("gateway.no-answer", 75), ("gateway.unexpected-answer", 75),
            ("messaging.outbox-full", 75),
            ("gateway.configuration-invalid", 78), ("gateway.enrollment-url-without-key-hash", 65),
            ("gateway.enrollment-refused", 76),
            ("gateway.registration-withdrawn", 76), ("configuration.faults", 78), ("board.definition-absent", 78),
            ("vault.no-slot-opens", 78), ("agent.state-directory", 78), ("agent.bad-request", 64),
            ("agent.not-enrolled", 78), ("gateway.not-registered", 78), ("gateway.path-invalid", 65),
            ("gateway.host-not-configured", 65),
            ("gateway.enrollment-key-hash-invalid", 65), ("usage.unknown-command", 64), ("command.declined", 1),
            ("agent.subscription-ended", 75), ("messaging.invalid-topic", 65), ("messaging.payload-too-large", 65),
            ("gateway.user-required", 1), ("gateway.user-credentials-invalid", 76), ("proximity.user-declined", 76),
            ("proximity.login-in-progress", 75), ("proximity.not-authorized-in-time", 75),
            ("proximity.not-supported", 1),
            ("input.unreadable", 65), ("json.malformed", 65), ("internal.unexpected", 1),
        ])
    func exitStatus(code: String, status expected: Int32) throws {
        #expect(try statuses(of: code) == [expected])
    }

    @Test(
        "a value of a query is percent-encoded but for what RFC 3986 leaves as it is",
        arguments: [
            ("abcXYZ019-._~", "abcXYZ019-._~"), ("a/b", "a%2Fb"), ("+/#", "%2B%2F%23"), ("a b&c=d", "a%20b%26c%3Dd"),
            ("Tür", "T%C3%BCr"),
            ("%41", "%2541"), ("\u{0}\n", "%00%0A"), ("", ""),
        ])
    func query(value: String, encoded: String) {
        #expect(PercentEncoding.encode(value) == encoded)
        #expect(PercentEncoding.encode(value).removingPercentEncoding == value)
    }

    @Test(
        "an age is told in its two largest units",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
            (86_399, "23 h 59 min"),
            (86_400, "1 d 0 h"), (90_000 * 10, "10 d 10 h"), (nil, "?"),
        ] as [(Int64?, String)])
    func age(seconds: Int64?, text: String) {
        #expect(Age(seconds: seconds).description == text)
    }

    @Test("fields stand in two columns, and those without a value are left out")
    func fields() {
        var fields = Fields()
        fields.add("gateway", "gw.example")
        fields.add("device", nil)
        fields.add("token", "")
        fields.add("id", "7")
        #expect(fields.text == "gateway  gw.example\nid       7")
        #expect(Fields().text == "")
    }

    @Test("an event is one line: time, name, details in order")
    func eventLine() {
        let event = LocalEvent(
            name: "broker.failed",
            data: [
                "event": "broker.failed", "time": "2026-11-21T03:00:00Z", "retrySeconds": 4,
                "code": "messaging.cannot-connect",
            ])
        #expect(
            EventLine(event).text == "2026-11-21T03:00:00Z  broker.failed  code=messaging.cannot-connect retrySeconds=4"
        )
    }

    @Test("an event that has a message reads as a sentence, with the zone of its time and its name for programs")
    func eventMessage() {
        let event = LocalEvent(
            name: "broker.failed",
            data: [
                "event": "broker.failed", "time": "2026-11-21T03:00:00Z", "retrySeconds": 4,
                "code": "messaging.cannot-connect",
                "message": "cannot connect to broker b:8883", "remedy": "check the firewall",
            ])
        #expect(
            EventLine(event).text
                == "2026-11-21T03:00:00Z  cannot connect to broker b:8883, trying again in 4 s; check the firewall  (broker.failed)"
        )
    }

    @Test(
        "numbers are scaled for people, and nouns agree with them",
        arguments: [
            (24_154_005_504, "B", "22.5 GiB"), (512, "B", "512 B"), (0, "B", "0 B"), (5.37, "count", "5.37"),
            (45, "Cel", "45 °C"),
            (1013.25, "hPa", "1013.25 hPa"), (-0.5, "Cel", "-0.5 °C"), (37.0000004, "%RH", "37 %"),
        ])
    func reading(value: Double, unit: String, text: String) {
        let shown = Amount.reading(value, unit: unit)
        #expect([shown.value, shown.unit].filter { !$0.isEmpty }.joined(separator: " ") == text)
    }

    @Test("counts agree with their nouns, and bytes have a unit that fits")
    func counts() {
        #expect([0, 1, 2].map { Amount.of($0, "message") } == ["0 messages", "1 message", "2 messages"])
        #expect(Amount.bytes(10_206_136) == "9.7 MiB")
        #expect(Amount.bytes(1024 * 1024) == "1 MiB")
    }

    @Test("a long identifier is shown by its beginning, a short one whole")
    func identifier() {
        #expect(Identifier.short(String(repeating: "ab", count: 32)) == "abababab…")
        #expect(Identifier.short("alice") == "alice")
    }

    @Test(
        "control characters of others do not reach a terminal, tab and line feed do",
        arguments: [
            ("\u{1B}]0;title\u{07}", "\u{FFFD}]0;title\u{FFFD}"), ("a\tb\nc", "a\tb\nc"),
            ("a\r\u{9B}b", "a\u{FFFD}\u{FFFD}b"), ("Grüße", "Grüße"),
        ])
    func controls(text: String, shown: String) {
        #expect(Terminal.withoutControls(text) == shown)
    }

    @Test("a daemon that is gone, going or coming is waited for, and nothing else")
    func endOfDaemon() {
        #expect(LocalAPIError.daemonNotRunning(path: "/x").isEndOfDaemon)
        #expect(LocalAPIError.noAnswer(reason: "x").isEndOfDaemon)
        for code in [
            "local-api.stopping", "agent.not-enrolled", "gateway.not-registered", "gateway.awaiting-activation",
        ] {
            #expect(LocalAPIError.remote(status: 500, Explanation(code, .conflict, "")).isEndOfDaemon)
        }
        let ended = Explanation("agent.subscription-ended", .temporary, "")
        #expect(!LocalAPIError.remote(status: 503, ended).isEndOfDaemon)
        #expect(!LocalAPIError.socketForbidden(path: "/x").isEndOfDaemon)
    }
}

@Suite("Commands that are not there")
struct CommandNamesTests {
    @Test(
        "are answered with the one that was likely meant",
        arguments: [
            (["statsu"], "latchkey status"), (["enrol"], "latchkey enroll"), (["sub", "x"], "latchkey subscribe"),
            (["board", "lits"], "latchkey board list"), (["help", "publsh"], "latchkey publish"),
            (["hlep"], "latchkey help"),
            (["xyzzy"], nil), (["consent", "5"], nil),
        ] as [([String], String?)])
    func unknown(arguments: [String], suggestion: String?) {
        let error = #expect(throws: UsageError.self) { try CommandNames.check(arguments, of: Latchkey.self) }
        guard case .unknownCommand(_, _, let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == suggestion)
    }

    @Test(
        "are not seen in arguments and options",
        arguments: [
            [], ["status"], ["publish", "statsu", "x"], ["help"], ["help", "board", "list"], ["--bogus"],
            ["board", "--help"], ["consent"],
        ])
    func known(arguments: [String]) {
        #expect(throws: Never.self) { try CommandNames.check(arguments, of: Latchkey.self) }
    }
}

@Suite("What a board is enrolled with")
struct EnrollArgumentTests {
    @Test(
        "what looks like a URL goes to the daemon as one, also when it is a wrong one",
        arguments: [
            "https://gw.example/connect/device/config?sessionData=x", "http://gw.example/?sessionData=x",
            " https://gw.example/ \n",
        ])
    func url(text: String) throws {
        let expected: JSON = ["url": .string(text.trimmingCharacters(in: .whitespacesAndNewlines))]
        #expect(try Enroll.body(of: text) == expected)
        #expect(try Enroll.body(in: text, of: "standard input") == expected)
    }

    @Test("a document is taken as it is")
    func document() throws {
        #expect(try Enroll.body(in: " {\"server\": {}}\n", of: "standard input") == ["configuration": ["server": [:]]])
    }

    @Test("a path, also as a file URL, is read")
    func path() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "enroll-\(UUID().uuidString).json")
        try Data("{\"a\": 1}".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Enroll.body(of: file.path) == ["configuration": ["a": 1]])
        #expect(try Enroll.body(of: "file://\(file.path)") == ["configuration": ["a": 1]])
        #expect(throws: InputError.unreadable(name: "/nowhere.json", reason: "No such file or directory")) {
            try Enroll.body(of: "/nowhere.json")
        }
    }

    @Test("a file may hold the URL")
    func fileWithURL() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "url-\(UUID().uuidString).txt")
        try Data("https://gw.example/?a=b\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Enroll.body(of: file.path) == ["url": "https://gw.example/?a=b"])
    }

    @Test("what is neither a URL nor a document is refused by its name, without being shown")
    func neither() {
        let error = #expect(throws: InputError.neitherURLNorDocument(name: "standard input")) {
            try Enroll.body(in: "sessionData=s3cret", of: "standard input")
        }
        #expect(error?.message.contains("s3cret") == false)
        let other = #expect(throws: InputError.neitherURLNorDocument(name: "/etc/passwd")) {
            try Enroll.body(of: "/etc/passwd")
        }
        #expect(other?.message.contains("/etc/passwd") == true && other?.remedy?.isEmpty == false)
    }
}

@Suite("Input of the command", .timeLimit(.minutes(1)))
struct InputTests {
    @Test("is bounded")
    func bounded() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)")
        try Data(repeating: 1, count: 100).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Input.file(file.path, limit: 100).count == 100)
        #expect(throws: InputError.tooLong(name: file.path, limit: 99)) { try Input.file(file.path, limit: 99) }
        #expect(throws: InputError.tooLong(name: "/dev/zero", limit: 1 << 20)) {
            try Input.file("/dev/zero", limit: 1 << 20)
        }
    }

    @Test("the largest payload fits into a request")
    func payload() {
        #expect(
            Base64.encode([UInt8](repeating: 0, count: Input.payloadLimit)).utf8.count + (64 << 10)
                < LocalServer.Limits().bodyBytes)
    }
}

@Suite("Streams of the command", .timeLimit(.minutes(1)))
struct FollowingTests {
    private func server(_ path: String) throws -> LocalServer {
        var router = Router()
        router.on("GET", "/v1/ticks", needs: .read, .init("Ticks", events: ["tick": .openObject("")])) { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: LocalEvent.self)
            continuation.yield(LocalEvent(name: "tick", data: ["n": 1]))
            // Open until the reader or the server goes.
            continuation.onTermination = { _ in }
            return .events(Held(stream: stream, continuation: continuation))
        }
        let server = LocalServer(socketPath: path, policy: AccessPolicy(owners: [getuid()]), router: router)
        try server.listen()
        return server
    }

    /// A stream that nothing ends from inside.
    private struct Held: AsyncSequence, Sendable {
        let stream: AsyncStream<LocalEvent>
        let continuation: AsyncStream<LocalEvent>.Continuation
        func makeAsyncIterator() -> AsyncStream<LocalEvent>.Iterator { stream.makeAsyncIterator() }
    }

    @Test("a stream goes on with the daemon that comes after the one it began with")
    func goesOn() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "f-\(UUID().uuidString.prefix(8)).sock").path
        let ticks = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            var count = 0
            try await Following(
                client: LocalClient(socketPath: path), path: "/v1/ticks", isKnown: true,
                backoff: Backoff(initial: .milliseconds(20), cap: .milliseconds(100))
            ).run { event in
                guard event.name == "tick" else { return true }
                ticks.continuation.yield()
                count += 1
                return count < 2
            }
        }
        for _ in 0..<2 {
            let server = try server(path)
            let serving = Task { try await server.run() }
            for await _ in ticks.stream.prefix(1) { break }
            serving.cancel()
            try await serving.value
        }
        try await reader.value
    }

    @Test("a daemon that does not run at all is an error")
    func notRunning() async {
        await #expect(throws: LocalAPIError.daemonNotRunning(path: "/nowhere/api.sock")) {
            try await Following(client: LocalClient(socketPath: "/nowhere/api.sock"), path: "/v1/ticks").run { _ in true
            }
        }
    }
}
