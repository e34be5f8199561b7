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
            try requireChange(of: members)
            return .accepted
        }
    ]
}

/// A drop-in changes one value, whatever the file before it is, and is read as it was written.
private func requireChange(of members: [String: JSON]) throws(Violation) {
    let text = SettingsDocument.text(of: ["broker": ["port": 1], "hosts": [["host": "a", "public": true]]])
    guard let changes = try? SettingsDocument.parse(text) else { return try require(false, "what is written is read") }
    let layers = SettingsLayers(main: .init(path: "main", members: members))
    let after = layers.replacing("drop-in", with: changes)
    try require(after.members["broker"]?["port"] == .integer(1), "a changed value is there")
    try require(after.files(saying: "broker.port").last == "drop-in", "its file is known")
    let others = { (members: [String: JSON]) in members.filter { !["broker", "hosts"].contains($0.key) } }
    try require(
        others(after.members).keys.sorted() == others(layers.members).keys.sorted(), "a change is of one value")
    for keyPath in members.keys {
        _ = after.placed(SettingsFault(keyPath: "\(keyPath)[0].a", fault: "", fix: ""))
    }
}
