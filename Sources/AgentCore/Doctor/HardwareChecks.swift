import Groundwork
import Vault

/// Fails when the TPM that is in use does not answer; warns when it is about to lock itself.
package struct TPMCheck: HealthCheck {
    package static let name = "tpm"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        switch agent.hardware.chip {
        case nil: .skip("not in use")
        case .failure(let fault): .fail(fault.message, remedy: fault.remedy ?? "see: latchkey status")
        case .success(let chip) where chip.tryLimit > 0 && 2 * chip.failedTries >= chip.tryLimit:
            .warn(
                "\(Self.text(chip)), \(chip.failedTries) of \(chip.tryLimit) wrong authorization values",
                remedy: "find the program that tries them; keys of this agent work on, but the TPM locks others out")
        case .success(let chip): .pass(Self.text(chip))
        }
    }

    private static func text(_ chip: ChipDescription) -> String { "\(chip.manufacturer), firmware \(chip.firmware)" }
}

/// Fails when the PKCS#11 token that the settings name is not there or locked; warns when one more wrong PIN locks it.
package struct TokenCheck: HealthCheck {
    package static let name = "token"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        switch agent.hardware.token {
        case nil: return .skip("the settings name none")
        case .failure(let fault): return .fail(fault.message, remedy: fault.remedy ?? "see: latchkey status")
        case .success(let token):
            let name = "\(token.label) of \(token.manufacturer), serial number \(token.serial)"
            if token.isLocked {
                return .fail(
                    "\(name): its PIN is locked",
                    remedy: "set a new PIN with the token's security officer PIN, such as: pkcs11-tool --init-pin")
            }
            if token.isFinalTry || token.mustChangePIN {
                return .warn(
                    token.isFinalTry ? "\(name): one more wrong PIN locks it" : "\(name): its PIN must be changed",
                    remedy: "log in with the right PIN once, such as: pkcs11-tool --login --list-objects")
            }
            return .pass(name)
        }
    }
}
