import AgentCore
import Gateway

extension GatewayError {
    /// Whether retrying is useless until a person acts.
    package var needsPerson: Bool {
        switch self {
        case .notRegistered, .registrationWithdrawn, .deviceRecordInvalid, .noGrantApplies, .stopped: true
        // A failed retry costs little, but what is not retried stays undone.
        default: false
        }
    }
}
