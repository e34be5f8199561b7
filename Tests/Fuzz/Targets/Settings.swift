import Groundwork
import Settings

extension FuzzTarget {
    static let settings = [
        FuzzTarget(name: "settings") { bytes throws(Violation) in
            let members: [String: JSON]
            do throws(SettingsFault) {
                members = try SettingsDocument.parse(text(bytes))
            } catch {
                try require(!error.fault.isEmpty && !error.fix.isEmpty, "a refusal says why and what to do")
                return .refused
            }
            try requireChange(in: text(bytes), that: members)
            return .accepted
        }
    ]
}

/// A change of one value is refused, or it is that one that is changed.
private func requireChange(in text: String, that members: [String: JSON]) throws(Violation) {
    var changed = SettingsText(text)
    guard let path = SettingsPath("broker.port"), (try? changed.set(path, to: 1)) != nil else {
        return try require(changed.text == text, "what is refused is left as it is")
    }
    let after = (try? SettingsDocument.parse(changed.text)) ?? [:]
    try require(after["broker"]?["port"] == .integer(1), "a changed value is there")
    try require(
        after.filter { $0.key != "broker" } == members.filter { $0.key != "broker" }, "a change is of one value")
}
