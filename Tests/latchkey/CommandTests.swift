import Agent
import AgentCore
import Foundation
import Groundwork
import LocalAPI
import Testing

@testable import latchkey

@Suite("Output and exit status of the command")
struct CommandTests {
    /// As it is here, and as it is when the daemon says it.
    private func statuses(of code: String) throws -> Set<Int32> {
        let kind = try #require(Explain.catalogue.entries(named: code).first { $0.category == .error }?.kind)
        let said = try #require(Explanation(answer: Explanation(code, kind, "").answer))
        return [kind.exitStatus.rawValue, LocalAPIError.remote(status: kind.httpStatus, said).kind.exitStatus.rawValue]
    }

    @Test(
        "the exit status of a command is of sysexits.h, by the kind of the error",
        arguments: [
            ("local-api.daemon-not-running", 69), ("local-api.no-answer", 69), ("local-api.daemon-ended", 69),
            ("local-api.access-denied", 77),
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
        "the command percent-encodes a value of a query but for what RFC 3986 leaves as it is",
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
        "the command shows an age in its two largest units",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
            (86_399, "23 h 59 min"),
            (86_400, "1 d 0 h"), (90_000 * 10, "10 d 10 h"), (nil, "?"),
        ] as [(Int64?, String)])
    func age(seconds: Int64?, text: String) {
        #expect(Age(seconds: seconds).description == text)
    }

    @Test("the command prints fields in two columns, and leaves out those without a value")
    func fields() {
        var fields = Fields()
        fields.add("gateway", "gw.example")
        fields.add("device", nil)
        fields.add("token", "")
        fields.add("id", "7")
        #expect(fields.text == "gateway  gw.example\nid       7")
        #expect(Fields().text == "")
    }

    @Test("the command prints an event on one line: time, name, details in order")
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

    @Test("the command prints an event with a message as a sentence, with zone and name")
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
        "the command scales numbers for people, and its nouns agree with them",
        arguments: [
            (24_154_005_504, "B", "22.5 GiB"), (512, "B", "512 B"), (0, "B", "0 B"), (5.37, "count", "5.37"),
            (45, "Cel", "45 °C"), (90.5, "s", "90.5 s"), (3283.18, "s", "54 min 43 s"),
            (1013.25, "hPa", "1013.25 hPa"), (-0.5, "Cel", "-0.5 °C"), (37.0000004, "%RH", "37 %"),
        ])
    func reading(value: Double, unit: String, text: String) {
        let shown = Amount.reading(value, unit: unit)
        #expect([shown.value, shown.unit].filter { !$0.isEmpty }.joined(separator: " ") == text)
    }

    @Test("the command's counts agree with their nouns, and bytes have a unit that fits")
    func counts() {
        #expect([0, 1, 2].map { Amount.of($0, "message") } == ["0 messages", "1 message", "2 messages"])
        #expect(Amount.bytes(10_206_136) == "9.7 MiB")
        #expect(Amount.bytes(1024 * 1024) == "1 MiB")
    }

    @Test("the command shows a long identifier by its beginning, a short one whole")
    func identifier() {
        #expect(Identifier.short(String(repeating: "ab", count: 32)) == "abababab…")
        #expect(Identifier.short("alice") == "alice")
    }

    @Test(
        "the command keeps others' control characters from a terminal, but for tab and line feed",
        arguments: [
            ("\u{1B}]0;title\u{07}", "\u{FFFD}]0;title\u{FFFD}"), ("a\tb\nc", "a\tb\nc"),
            ("a\r\u{9B}b", "a\u{FFFD}\u{FFFD}b"), ("Grüße", "Grüße"),
            ("a\r\nb\r", "a\nb\u{FFFD}"), ("evil\u{202E}gpj.exe\u{2066}", "evil\u{FFFD}gpj.exe\u{FFFD}"),
            ("a\u{2028}b", "a\u{FFFD}b"), ("👩‍🔧", "👩‍🔧"),
        ])
    func controls(text: String, shown: String) {
        #expect(Terminal.withoutControls(text).unicodeScalars.elementsEqual(shown.unicodeScalars))
        // In pieces of any size, also those that end within a character.
        for size in 1...5 {
            var pieces = Terminal.Pieces()
            let bytes = Array(text.utf8)
            var found: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                found += pieces.take(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(found + pieces.rest() == Array(shown.utf8))
        }
    }

    @Test("the command escapes others' control characters in JSON on a terminal, which stays the same JSON")
    func escapes() throws {
        let json = JSON.object(["a\u{9B}": "b\u{202E}c\u{85}ü👩‍🔧\u{1B}"])
        let text = Terminal.withEscapes(json.text)
        #expect(text == #"{"a\u009b":"b\u202ec\u0085ü👩‍🔧\u001b"}"#)
        #expect(try JSON(parsing: Array(text.utf8)) == json)
    }

    @Test("the command waits for a daemon that is gone, going or coming, and for nothing else")
    func endOfDaemon() {
        #expect(LocalAPIError.daemonNotRunning(path: "/x").isEndOfDaemon)
        #expect(LocalAPIError.noAnswer(reason: "x").isEndOfDaemon)
        #expect(LocalAPIError.daemonEnded.isEndOfDaemon)
        let stopping = LocalAPIError.stopping.explanation
        #expect(LocalAPIError.remote(status: stopping.kind.httpStatus, stopping).isEndOfDaemon)
        // Not enrolled, not registered yet; not activated; a store that is not open yet.
        for kind in [ExplanationKind.unconfigured, .notAdmitted, .unavailable] {
            #expect(LocalAPIError.remote(status: kind.httpStatus, Explanation("any", kind, "")).isEndOfDaemon)
        }
        for kind in [ExplanationKind.temporary, .conflict, .permission, .configuration, .internal] {
            #expect(!LocalAPIError.remote(status: kind.httpStatus, Explanation("any", kind, "")).isEndOfDaemon)
        }
        #expect(!LocalAPIError.socketForbidden(path: "/x").isEndOfDaemon)
    }
}
