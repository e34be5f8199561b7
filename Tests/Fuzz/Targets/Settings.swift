import Settings

extension FuzzTarget {
    static let settings = [
        FuzzTarget(name: "settings") { bytes throws(Violation) in
            do throws(SettingsFault) {
                _ = try SettingsDocument.parse(text(bytes))
                return .accepted
            } catch {
                try require(!error.fault.isEmpty && !error.fix.isEmpty, "a refusal says why and what to do")
                return .refused
            }
        }
    ]
}
