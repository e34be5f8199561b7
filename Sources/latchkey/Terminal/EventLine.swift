import Groundwork
import LocalAPI

/// One event of the daemon on one line: when, what happened, and its name for programs.
struct EventLine {
    private let event: LocalEvent

    init(_ event: LocalEvent) { self.event = event }

    var text: String {
        let out = Terminal.standardOutput
        let members = event.data.object ?? [:]
        let time = members["time"]?.string.map { out.dim($0) + "  " } ?? ""
        guard let message = members["message"]?.string else {
            let details = members.filter { !Self.omitted.contains($0.key) }.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.string ?? $0.value.text)" }.joined(separator: " ")
            return "\(time)\(out.bold(event.name))\(details.isEmpty ? "" : "  \(out.shown(details))")"
        }
        let remedy = members["remedy"]?.string.map { "; \($0)" } ?? ""
        let retry = members["retrySeconds"]?.integer.map { ", trying again in \($0) s" } ?? ""
        return "\(time)\(out.shown(message + retry + remedy))  \(out.dim("(\(event.name))"))"
    }

    /// Members that are shown elsewhere in the line.
    private static let omitted: Set = ["time", "event"]
}
