import AgentCore
import Groundwork
import LocalAPI
import Vault

/// What happens to the vault's passcode.
package enum PasscodeEvent: ReportedEvent, Equatable {
    /// Why it was locked.
    package enum Reason: String, Sendable, CaseIterable {
        case command
        /// No client has kept it open for as long as the policy says.
        case time
        /// The last client that kept it open has gone, and the policy has no time.
        case background
    }

    case didLock(Reason)
    case didUnlock
    case changed
    case turnedOff
    case refused(triesLeft: Int?)
    case expiresSoon(days: Int)
    case didWipe

    package static let meanings = [
        "vault.did-lock": "what the board has of persons is locked behind the vault's passcode",
        "vault.did-unlock": "what the board has of persons can be used",
        "vault.passcode-changed": "the vault has a new passcode",
        "vault.passcode-off": "the vault needs no passcode any more",
        "vault.passcode-refused": "a wrong passcode was given",
        "vault.passcode-expires-soon": "the vault's passcode has to be changed within days",
        "vault.did-wipe": "everything behind the vault's passcode was erased",
    ]

    package static var details: [String: Schema] {
        [
            "reason": .string("why it was locked", choices: Reason.allCases.map(\.rawValue)),
            "triesLeft": .integer("wrong passcodes until everything behind the passcode is erased, if that is limited"),
            "days": .integer("until it expires"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .didLock(let reason):
            EventReport("vault.did-lock", .notable, "the passcode is locked", ["reason": .string(reason.rawValue)])
        case .didUnlock: EventReport("vault.did-unlock", .notable, "the passcode is unlocked")
        case .changed: EventReport("vault.passcode-changed", .notable, "the vault has a new passcode")
        case .turnedOff: EventReport("vault.passcode-off", .notable, "the vault needs no passcode any more")
        case .refused(let left):
            EventReport(
                "vault.passcode-refused", .notable,
                "a wrong passcode was given"
                    + (left.map { $0 == 1 ? "; one more erases everything" : "; \($0) more erase everything" } ?? ""),
                left.map { ["triesLeft": .integer(Int64($0))] } ?? [:])
        case .expiresSoon(let days):
            EventReport(
                "vault.passcode-expires-soon", .trouble, "the vault's passcode expires in \(days) days",
                ["days": .integer(Int64(days))])
        case .didWipe:
            EventReport("vault.did-wipe", .trouble, "everything behind the vault's passcode was erased")
        }
    }
}
