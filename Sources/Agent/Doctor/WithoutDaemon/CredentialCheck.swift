/// Fails when the file from which systemd makes the credential is missing.
struct CredentialCheck: InstallationCheck {
    static let name = "credential"

    func run(_ installation: Installation) -> Verdict? {
        guard let settings = installation.settings, settings.vault.slot == .systemdCredential,
            let unit = installation.unit, unit.isInstalled
        else { return nil }
        let credential = settings.vault.credential
        guard !unit.hidesCredentials else { return .skip("systemd does not tell which credentials the service has") }
        guard let file = installation.credentialFile else {
            return .fail(
                "latchkey.service loads no credential \(credential), which vault.credential of the settings names",
                remedy: "add LoadCredentialEncrypted=\(credential):FILE to the unit")
        }
        switch installation.credential {
        case .there: return .pass("\(file) is there")
        case .hidden:
            return .warn("\(file) cannot be looked at by this user", remedy: "run it as root: sudo latchkey doctor")
        case .missing:
            return .fail(
                "\(file), which the agent's store opens with, does not exist",
                remedy: "put it back from a copy made on this machine; without one, start with a new store and "
                    + "credential, and enroll again: systemctl stop latchkey; "
                    + "rm -f \(file) \(settings.stateDirectory)/vault.db*; systemctl start latchkey")
        }
    }
}
