import AgentCore

/// Fails when the file from which systemd makes the credential is missing, or systemd cannot decrypt it.
package struct CredentialCheck: InstallationCheck {
    package static let name = "credential"

    package func run(_ installation: Installation) -> Verdict? {
        guard let settings = installation.settings, settings.vault.slots.contains(.systemdCredential),
            let unit = installation.unit, unit.isInstalled
        else { return nil }
        let credential = settings.vault.credential
        guard !unit.hidesCredentials else { return .skip("systemd does not report which credentials the service has") }
        guard let file = installation.credentialFile else {
            return .fail(
                "latchkey.service loads no credential \(credential), which vault.credential of the settings names",
                remedy: "add LoadCredentialEncrypted=\(credential):FILE to the unit")
        }
        switch installation.credential {
        // EXIT_CREDENTIALS of systemd.exec(5).
        case .there where unit.exitStatus == 243:
            return .fail(
                "systemd cannot decrypt \(file): it was made on another machine, or the key that sealed it is gone "
                    + "(the TPM's, or /var/lib/systemd/credential.secret with /etc/machine-id), "
                    + "and the store cannot be opened",
                remedy: "restore what was changed; without a copy, \(Self.startAnew(file, settings))")
        case .there: return .pass("\(file) exists")
        case .hidden:
            return .warn("this user cannot inspect \(file)", remedy: "run it as root: sudo latchkey doctor")
        case .missing:
            return .fail(
                "\(file), which the agent's store opens with, does not exist",
                remedy: "restore it from a copy made on this machine; without one, \(Self.startAnew(file, settings))")
        }
    }

    private static func startAnew(_ file: String, _ settings: AgentConfiguration) -> String {
        "start with a new store and credential, and enroll again: systemctl stop latchkey; "
            + "rm -f \(file) \(settings.stateDirectory)/vault.db*; systemctl start latchkey"
    }
}
