import Foundation
import Logging
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore

/// An entry of the journal's native protocol, taken apart as journald does (systemd, "Native Journal Protocol").
private func fields(of datagram: [UInt8]) throws -> [String: [UInt8]] {
    var fields: [String: [UInt8]] = [:]
    var rest = datagram[...]
    while !rest.isEmpty {
        let end = try #require(rest.firstIndex(of: UInt8(ascii: "\n")))
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
            fields[String(decoding: line[..<equals], as: UTF8.self)] = Array(line[(equals + 1)...])
        } else {
            try #require(rest.count >= 9)
            let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            fields[String(decoding: line, as: UTF8.self)] = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            try #require(rest.first == UInt8(ascii: "\n"))
            rest = rest.dropFirst()
        }
    }
    return fields
}

@Suite("Logs", .timeLimit(.minutes(5)))
struct LogTests {
    private func event(_ message: String, _ level: Logger.Level = .info, _ metadata: Logger.Metadata? = nil) -> LogEvent
    {
        LogEvent(
            level: level, message: "\(message)", metadata: metadata, source: "test", file: "", function: "", line: 0)
    }

    private func sent(_ event: LogEvent, adding metadata: Logger.Metadata = [:]) throws -> [String: [UInt8]] {
        try withFolder { folder in
            let journal = try DatagramReceiver(folder + "/journal")
            var handler = JournalLogHandler(label: "agent", level: .trace, socketPath: folder + "/journal")
            handler.metadata = metadata
            handler.metadataProvider = Logger.MetadataProvider { ["provided": "yes", "board": "unknown"] }
            handler.log(event: event)
            return try fields(of: try journal.bytes())
        }
    }

    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test("the journal gets message, priority, identifier and the metadata as fields")
    func journalFields() throws {
        let fields = try sent(
            event("connected", .notice, ["broker-host": "b.example", "n": "1=2"]), adding: ["board": "pi"])
        #expect(
            fields.mapValues { String(decoding: $0, as: UTF8.self) } == [
                "MESSAGE": "connected", "PRIORITY": "5", "SYSLOG_IDENTIFIER": "latchkey", "LATCHKEY_SERVICE": "agent",
                "LATCHKEY_BROKER_HOST": "b.example", "LATCHKEY_N": "1=2", "LATCHKEY_BOARD": "pi",
                "LATCHKEY_PROVIDED": "yes",
            ])
    }

    @Test(
        "a log value with line breaks is one field and no other",
        arguments: ["a\nPRIORITY=0", "\n", "a\r\nMESSAGE=b\n"])
    func lineBreaks(value: String) throws {
        let fields = try sent(event(value, .debug, ["detail": "\(value)"]))
        #expect(text(fields["MESSAGE"]) == value)
        #expect(text(fields["LATCHKEY_DETAIL"]) == value)
        #expect(text(fields["PRIORITY"]) == "7")
    }

    @Test("a long log value is cut between two characters")
    func longValue() throws {
        let fields = try sent(
            event(String(repeating: "x", count: 20_000), .info, ["wide": "a\(String(repeating: "€", count: 5000))"]))
        #expect(fields["MESSAGE"]?.count == JournalLogHandler.valueLimit)
        let wide = try #require(fields["LATCHKEY_WIDE"])
        #expect(wide.count == 8191)
        #expect(String(validating: wide, as: UTF8.self) != nil)
    }

    @Test(
        "log levels are syslog's priorities",
        arguments: [
            (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
        ])
    func priority(level: Logger.Level, priority: Int) throws {
        #expect(text(try sent(event("x", level))["PRIORITY"]) == "\(priority)")
    }

    @Test("a log field's name has only capitals, digits and underscores, and is bounded")
    func names() {
        #expect(JournalLogHandler.fieldName("retry-Seconds.é=1") == "RETRY_SECONDS___1")
        #expect(JournalLogHandler.fieldName(String(repeating: "k", count: 100)).count == 48)
    }

    @Test(
        "a log entry on standard error is one line, whatever its message and fields hold",
        arguments: [
            "a\n2026-01-01T00:00:00Z error agent: forged", "a\r\nb", "a\u{2028}b", "a\u{85}b", "\u{1B}[2Jgone",
            "a\u{07}\u{9B}31mred", "a\u{0B}b\u{0C}c",
        ])
    func oneLine(text: String) {
        let handler = StandardErrorLogHandler(label: "agent", level: .info)
        let line = handler.text(of: event(text, .info, ["field": "\(text)"]), at: Date(timeIntervalSince1970: 0))
        #expect(!line.contains { $0.isNewline })
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(line.hasPrefix("1970-01-01T00:00:00Z info"))
    }

    @Test("a log line has time, level, part, message and the fields in order")
    func line() {
        var handler = StandardErrorLogHandler(label: "agent", level: .info)
        handler.metadata = ["z": "1", "b": "2"]
        let line = handler.text(of: event("hello", .warning, ["b": "3"]), at: Date(timeIntervalSince1970: 0))
        #expect(line == "1970-01-01T00:00:00Z warning agent: hello b=3 z=1")
    }

    @Test("the log goes to the journal only when the variable names what standard error is")
    func journalStream() async throws {
        #expect(!Logs.isConnectedToJournal(nil))
        #expect(!Logs.isConnectedToJournal("1:2"))
        let standardError = "/proc/\(ProcessInfo.processInfo.processIdentifier)/fd/2"
        let found = try await Program(url: URL(filePath: "/usr/bin/stat")).run(["-L", "-c", "%d:%i", standardError])
        #expect(Logs.isConnectedToJournal(found.output.split(separator: "\n").first.map(String.init)))
    }
}
