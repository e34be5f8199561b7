import Foundation
import Groundwork

@testable import AgentCertificates
@testable import AgentCore
@testable import AgentGateway
@testable import AgentPasscode
@testable import Vault

extension Row {
    /// The checks of hardware that has keys.
    static let ofHardware: [Row] = [
        Row(TPMCheck(), "skip", "not in use") { _ in },
        Row(TPMCheck(), "pass", "IBM, firmware 8217.4131") { $0.hardware.chip = .success(chip(failedTries: 1)) },
        Row(TPMCheck(), "warn", "16 of 32 wrong") { $0.hardware.chip = .success(chip(failedTries: 16)) },
        Row(TPMCheck(), "fail", "there is no TPM") {
            $0.hardware.chip = .failure(.chip(.absent(place: "TCTI")))
        },
        Row(TokenCheck(), "skip", "settings name none") { _ in },
        Row(TokenCheck(), "fail", "URI") { $0.hardware.token = .failure(.token(.noToken(uri: "URI"))) },
        Row(RollbackCheck(), "skip", "not open") { _ in },
        Row(RollbackCheck(), "pass", "not guarded") { $0.rollback = .notGuarded },
        Row(RollbackCheck(), "pass", "guarded by a counter") { $0.rollback = .guarded },
        Row(RollbackCheck(), "fail", "an earlier copy") { $0.rollback = .fault(.rollback(.rolledBack)) },
        Row(RollbackCheck(), "warn", "there is no TPM") { $0.rollback = .fault(.chip(.absent(place: "TCTI"))) },
        Row(DeviceKeyCheck(), "skip", "no registration") { _ in },
        Row(DeviceKeyCheck(), "pass", "in the sealed store") {
            $0.gateway.key = KeyFinding(.software, wanted: .software)
        },
        Row(DeviceKeyCheck(), "pass", "in the TPM, and signs") { $0.gateway.key = KeyFinding(.tpm, wanted: .tpm) },
        Row(DeviceKeyCheck(), "warn", "settings want it in the TPM") {
            $0.gateway.key = KeyFinding(.software, wanted: .tpm)
        },
        Row(DeviceKeyCheck(), "fail", "cannot be used: there is no TPM") {
            $0.gateway.key = KeyFinding(.tpm, wanted: .tpm, fault: ChipError.absent(place: "TCTI").explanation)
        },
    ]

    /// The check of the vault's passcode.
    static let ofPasscode: [Row] = [
        Row(PasscodeCheck(), "skip", "no passcode is set") { _ in },
        Row(PasscodeCheck(), "skip", "no passcode is set") { $0.passcode = passcode(.none) },
        Row(PasscodeCheck(), "pass", "switched off") { $0.passcode = passcode(.default) },
        Row(PasscodeCheck(), "pass", "set and locked; without a chip") { $0.passcode = passcode(.set) },
        Row(PasscodeCheck(), "pass", "set and locked, with a part of its key in the chip") {
            $0.passcode = passcode(.set, hasHardware: true)
        },
        Row(PasscodeCheck(), "warn", "expires ") { $0.passcode = passcode(.set, expires: $0.now + 86_400) },
        Row(PasscodeCheck(), "fail", "is being erased") { $0.passcode = passcode(.wiping) },
    ]

    private static func passcode(
        _ state: PasscodeStatus.State, expires: Date? = nil, hasHardware: Bool = false
    ) -> PasscodeStatus {
        PasscodeStatus(
            state: state, policy: PasscodePolicy(), open: [], failures: 0, triesLeft: nil, waitSeconds: 0,
            expires: expires, hasHardware: hasHardware)
    }

    /// The check of certificates beside those of gateways.
    static let ofCertificates: [Row] = [
        Row(CertificatesCheck(), "skip", "no certificate but those of gateways") { _ in },
        Row(CertificatesCheck(), "pass", "14 days left, of b") { $0.end(["a": 90, "b": 14]) },
        Row(CertificatesCheck(), "warn", "b ends in 13 days") { $0.end(["a": 14, "b": 13.99]) },
        Row(CertificatesCheck(), "fail", "a ended") { $0.end(["a": -1, "b": 90]) },
        Row(CertificatesCheck(), "fail", "cannot read the certificate named a") {
            $0[CertificatesFindings.self, default: CertificatesFindings()].fault =
                IdentityError.unreadable(name: "a").explanation
        },
    ]

    private static func chip(failedTries: Int) -> ChipDescription {
        ChipDescription(manufacturer: "IBM", firmware: "8217.4131", failedTries: failedTries, tryLimit: 32)
    }
}

extension AgentState {
    /// - Parameter days: from now, by the name of the certificate.
    fileprivate mutating func end(_ days: [String: Double]) {
        self[CertificatesFindings.self, default: CertificatesFindings()].ends = days.map {
            (name: $0, end: now.addingTimeInterval($1 * 86_400))
        }
    }
}
