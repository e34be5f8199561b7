import Foundation
import Groundwork
import Logging
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore

@Suite("The agent's newest log entries", .timeLimit(.minutes(5)))
struct RecentLogTests {
    private func log(_ text: String, _ level: Logger.Level = .info, to recent: RecentLog) {
        var handler = RecentLogHandler(label: "agent", level: .trace, in: recent)
        handler[metadataKey: "board"] = "simulated"
        handler.log(
            event: LogEvent(
                level: level, message: "\(text)", metadata: ["a": "1"], source: "", file: "", function: "", line: 0))
    }

    @Test("the newest log entries are kept up to a number and a length, in one line each, with their fields")
    func bounded() throws {
        let recent = RecentLog()
        for number in 0...RecentLog.limit { log("entry \(number)\nin two lines", .warning, to: recent) }
        #expect(recent.entries.count == RecentLog.limit)
        let first = try #require(recent.entries.first)
        #expect(first.text.hasPrefix("entry 1") && !first.text.contains("\n"))
        #expect(first.text.hasSuffix(" a=1 board=simulated") && first.json["level"] == "warning")
        log(String(repeating: "x", count: 2 * RecentLog.textLimit), to: recent)
        #expect(recent.entries.last?.text.count == RecentLog.textLimit)
    }

    @Test("log entries reach a follower once each: those before it, then those after")
    func followed() async {
        let recent = RecentLog()
        log("before", to: recent)
        let (past, coming) = recent.follow()
        log("after", to: recent)
        #expect(past.map { $0.text.prefix(6) } == ["before"])
        var iterator = coming.makeAsyncIterator()
        #expect(await iterator.next()?.text.hasPrefix("after") == true)
    }
}
