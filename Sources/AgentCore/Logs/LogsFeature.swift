import Groundwork
import LocalAPI

/// What the agent logged lately, for the console and `latchkey logs`.
package struct LogsFeature: Feature {
    package init(_ host: Host) {}

    package func addRoutes(to router: inout Router) {
        let entry = RecentLog.Entry.schema()
        router.on(
            "GET", "/v1/logs", needs: .read,
            .init(
                "The agent's latest log entries, oldest first",
                answer: .object(all: ["entries": .array(of: entry, "at most \(RecentLog.limit)")]))
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
