import Groundwork

/// Why a vault's file is not known to be its newest. What is found stays until ``Vault/acceptRollback()``, or until the
/// program starts again.
public enum RollbackError: Explained, Equatable {
    /// The counter has counted for a newer file: this one is an earlier copy.
    case rolledBack
    /// The counter was removed from the TPM.
    case counterMissing
    /// The TPM is another one, or was cleared.
    case otherChip
    /// The counter has less than the file, by more than a power cut explains.
    case counterBehind

    public var explanation: Explanation {
        switch self {
        case .rolledBack:
            Explanation(
                "vault.rolled-back", .damaged,
                "the sealed store is an earlier copy: the counter in the TPM has counted for a newer one",
                remedy: Self.decide,
                meaning: "an earlier copy of the card, or of vault.db, was put back; tries of the passcode, slots and "
                    + "registrations are as they were then")
        case .counterMissing:
            Explanation(
                "vault.counter-missing", .damaged,
                "the counter that shows whether the sealed store is the newest was removed from the TPM",
                remedy: Self.decide)
        case .otherChip:
            Explanation(
                "vault.counter-elsewhere", .damaged,
                "the counter that shows whether the sealed store is the newest is in another TPM, or this one was "
                    + "cleared",
                remedy: "put the board's own TPM back and restart the agent; else \(Self.decide)")
        case .counterBehind:
            Explanation(
                "vault.counter-behind", .damaged,
                "the TPM has lost what its counter has counted for the sealed store", remedy: Self.decide)
        }
    }

    private static let decide =
        "find out who had the board or its card; to go on with this store, run as root: latchkey vault accept-rollback"

    public static let examples: [RollbackError] = [.rolledBack, .counterMissing, .otherChip, .counterBehind]
}

/// How a vault is guarded.
struct RollbackGuard {
    let chip: Chip
    /// Whether the counter is known to have what the file has.
    var isSettled = false
    /// Whether a commit that counts went on without the counter.
    var isDue = false
    /// What was found, which asking again would not change.
    var fault: RollbackError?
}
