import AgentCore

/// Warns when the credential is sealed to registers of the TPM that an update of the firmware changes.
package struct CredentialBindingCheck: InstallationCheck {
    package static let name = "credential-binding"

    package func run(_ installation: Installation) -> Verdict? {
        guard let settings = installation.settings, settings.vault.slots.contains(.systemdCredential),
            let file = installation.credentialFile, let header = installation.credentialHeader
        else { return nil }
        guard !header.registers.isEmpty else { return .pass("\(file) opens whatever firmware is running") }
        let registers = header.registers.map(String.init).joined(separator: ", ")
        return .warn(
            "\(file) opens only while PCR \(registers) of the TPM has its present value: an update of the firmware, or "
                + "a change of Secure Boot, loses the sealed store",
            remedy: "replace it by one that is not bound while the agent runs, as root: umask 077; "
                + "head -c 32 /dev/urandom > /run/new.key; "
                + "latchkey vault add --kind systemd-credential --key-file /run/new.key; "
                + "systemd-creds encrypt --tpm2-pcrs= --name=\(settings.vault.credential) /run/new.key \(file); "
                + "rm /run/new.key; systemctl restart latchkey; then remove the slot that is no longer used: "
                + "latchkey vault slots, latchkey vault remove")
    }
}
