import Groundwork
import LocalAPI

/// One event of the daemon on one line: time, name, what it carries.
struct EventLine {
    private let event: LocalEvent

    init(_ event: LocalEvent) { self.event = event }

    var text: String {
        let out = Terminal.standardOutput
        let members = event.data.object ?? [:]
        let details = members.filter { $0.key != "time" && $0.key != "event" }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.string ?? $0.value.text)" }.joined(separator: " ")
        // Date and time to the second: the part a person compares.
        let time = (members["time"]?.string ?? "").prefix(19)
        let start = time.isEmpty ? "" : "\(out.dim(String(time)))  "
        return "\(start)\(out.bold(event.name))  \(out.shown(details))"
    }
}
