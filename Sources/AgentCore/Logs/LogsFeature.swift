import Groundwork
import LocalAPI

/// What the agent logged lately, for the console and `latchkey logs`.
package struct LogsFeature: Feature {
    package init(_ host: Host) {}

    package func addRoutes(to router: inout Router) {
        let entry = Schema.object(
            [
                "time": .time("time of the entry"), "level": .string("severity, such as info or warning"),
                "service": .string("the part of the agent that logged it"), "text": .string("the entry, in one line"),
            ], required: ["time", "level", "service", "text"])
        router.on(
            "GET", "/v1/logs", needs: .read,
            .init(
                "The agent's latest log entries, oldest first",
                answer: .object(["entries": .array(of: entry, "at most \(RecentLog.limit)")], required: ["entries"]))
        ) { _ in .json(["entries": .array(RecentLog.shared.entries.map(\.json))]) }
        router.on(
            "GET", "/v1/logs/stream", needs: .read,
            .init("The agent's latest log entries, then new entries as they are logged", events: ["log": entry])
        ) { _ in
            let (past, coming) = RecentLog.shared.follow()
            return .stream { writer in
                for entry in past {
                    guard await writer.send(LocalEvent(name: "log", data: entry.json)) else { return }
                }
                for await entry in coming {
                    guard await writer.send(LocalEvent(name: "log", data: entry.json)) else { return }
                }
            }
        }
    }
}
