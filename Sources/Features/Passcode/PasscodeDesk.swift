import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import Vault

/// Locks and unlocks the passcode, and has the features forget, or read again, what they have of persons.
package final class PasscodeDesk: Sendable {
    package let compartment: Compartment
    /// When it locks by itself, and what the service that sees to it is to do.
    struct Watch: Sendable {
        var timer = LockTimer()
        /// Whether an erasure has not come to its end.
        var isErasing = false
        var isOver = false
    }

    let watch = AsyncCondition(Watch())
    private let host: Host

    init(_ host: Host) {
        self.host = host
        let state = host.settings.stateDirectory
        compartment = Compartment(
            of: host.vault, hardware: host.hardware.passcodeHardware,
            personalRecords: { [weak host] () async throws(VaultError) in
                var records: [RecordName] = []
                for feature in host?.features ?? [] { records += try await feature.personalRecords() }
                return records
            },
            eraseCopies: { StateDirectory.removeSetAside(in: state) }, date: { [time = host.time] in time.now },
            uptime: { PasscodeDesk.uptime })
    }

    private static let start = ContinuousClock.now
    /// By a clock that is never set and counts while the board sleeps.
    static var uptime: Duration { ContinuousClock.now - start }

    private var settingsPolicy: PasscodePolicy? { host.settings[PasscodeSettings.self].policy }

    // MARK: Unlocking

    /// - Throws: as `Compartment.unlock(by:)`
    func unlock(by passcode: SecretBytes) async throws {
        try await judged { () async throws(VaultError) in try await self.compartment.unlock(by: passcode) }
        host.report(PasscodeEvent.didUnlock)
    }

    /// - Returns: whether it was open.
    /// - Throws: `VaultError`; it is locked then, too.
    @discardableResult
    func lock(_ reason: PasscodeEvent.Reason) async throws -> Bool {
        let result: Result<Bool, VaultError>
        do throws(VaultError) {
            result = .success(try await compartment.lock())
        } catch {
            result = .failure(error)
        }
        watch.change { $0.timer.locked() }
        if case .success(false) = result { return false }
        await refresh()
        host.report(PasscodeEvent.didLock(reason))
        return try result.get()
    }

    // MARK: Changing

    /// Sets the first passcode, or replaces the one that there is.
    ///
    /// - Parameter old: needed unless it is open.
    /// - Throws: as `Compartment.set(_:policy:)` and `Compartment.change(from:to:)`
    func set(_ passcode: SecretBytes, from old: SecretBytes?) async throws {
        let hasPasscode = try await compartment.status().state == .set
        try await judged { () async throws(VaultError) in
            if hasPasscode {
                try await self.compartment.change(from: old, to: passcode)
            } else {
                try await self.compartment.set(passcode, policy: self.settingsPolicy)
            }
        }
        host.report(PasscodeEvent.changed)
    }

    /// - Throws: as `Compartment.turnOff(from:)`
    func turnOff() async throws {
        try await judged { () async throws(VaultError) in try await self.compartment.turnOff() }
        host.report(PasscodeEvent.turnedOff)
    }

    /// - Throws: ``PasscodePolicyError/inSettings``; as `Compartment.setPolicy(_:)`
    func setPolicy(_ policy: PasscodePolicy) async throws {
        guard settingsPolicy == nil else { throw PasscodePolicyError.inSettings }
        try await judged { () async throws(VaultError) in try await self.compartment.setPolicy(policy) }
    }

    /// Erases everything behind the passcode.
    func forget() async throws {
        try await judged { () async throws(VaultError) in try await self.compartment.erase() }
        host.report(PasscodeEvent.didWipe)
    }

    // MARK: Starting

    /// Goes on with an erasure that was cut off, and takes the rules of the settings.
    func begin() async throws {
        watch.change { $0.isOver = false }
        try await finishWiping()
        try await takeSettings()
        let status = try await compartment.status()
        if status.state == .none, status.policy.applied.isDefaultOn { try await compartment.turnOff() }
        if let expires = status.expires {
            let days = Int((expires.timeIntervalSince(host.time.now) / 86_400).rounded(.down))
            if (0...Self.warnedDays).contains(days) { host.report(PasscodeEvent.expiresSoon(days: days)) }
        }
    }

    static let warnedDays = 7

    /// Locks when it is time, and goes on with an erasure, until the task is canceled.
    ///
    /// - Throws: why an erasure does not come to its end
    func lockInTime() async throws {
        while true {
            let deadline: Duration? = await withTaskCancellationHandler {
                await watch.wait { watch in
                    watch.isOver || watch.isErasing ? .some(nil) : watch.timer.deadline.map { .some($0) }
                }
            } onCancel: {
                watch.change { $0.isOver = true }
            }
            try Task.checkCancellation()
            guard let deadline else {
                try await finishWiping()
                continue
            }
            // A clock that stands still while the board sleeps would wake too late.
            let rest = min(deadline - Self.uptime, .seconds(10))
            guard rest <= .zero else {
                try await Task.sleep(for: rest)
                continue
            }
            // A client may have come meanwhile.
            if watch.read({ $0.timer.deadline }) == deadline { try await lock(.time) }
        }
    }

    private func finishWiping() async throws {
        guard try await compartment.finishWiping() else { return watch.change { $0.isErasing = false } }
        await note()
        host.report(PasscodeEvent.didWipe)
    }

    // MARK: Steps

    /// Reports what an attempt with a wrong passcode has done, and notes what has changed, also where it throws.
    private func judged(_ attempt: () async throws(VaultError) -> Void) async throws {
        do throws(VaultError) {
            try await attempt()
        } catch {
            switch error {
            case .passcode(.wrong(let left)): host.report(PasscodeEvent.refused(triesLeft: left))
            case .passcode(.wiped):
                await note()
                host.report(PasscodeEvent.didWipe)
            default:
                // A refused attempt is no sign of life that would begin the time anew.
                let status = try? await compartment.status()
                let isOpen = status?.state == .set && status?.isOpen == true
                if status?.state == .wiping || isOpen != watch.read({ $0.timer.isOpen }) { await note() }
            }
            throw error
        }
        // Another client's attempt may be under way; the next unlocking takes them.
        try? await takeSettings()
        await note()
    }

    /// Sets the timer by what is open now, and has the features forget, or read again, what persons have.
    private func note() async {
        // What cannot be read is not open.
        let status = try? await compartment.status()
        watch.change { watch in
            watch.isErasing = status?.state == .wiping
            if let status, status.state == .set, status.isOpen {
                watch.timer.unlocked(at: Self.uptime, timeout: status.policy.applied.lockTimeoutSeconds)
            } else {
                watch.timer.locked()
            }
        }
        await refresh()
    }

    /// Rules of the settings replace those that are stored, once the passcode is open.
    private func takeSettings() async throws {
        guard let policy = settingsPolicy else { return }
        let status = try await compartment.status()
        guard status.policy != policy, status.state != .set || status.isOpen else { return }
        try await compartment.setPolicy(policy)
    }

    /// All features at once, and whether or not the client that has caused it stays: none waits for another's servers.
    private func refresh() async {
        let features = host.features
        await Task {
            await withTaskGroup(of: Void.self) { group in
                for feature in features { group.addTask { await feature.passcodeDidChange() } }
            }
        }.value
    }
}

extension PasscodeStatus {
    /// Whether everything behind the passcode can be used.
    var isOpen: Bool { open.contains(.unlocked) }
}

/// Why the rules for the passcode are not changed.
package enum PasscodePolicyError: Explained, Equatable {
    case inSettings
    /// A rule that there is not, or a value that it cannot have.
    case invalid
    /// The passcode that was given twice is not the same.
    case differs

    package var explanation: Explanation {
        switch self {
        case .inSettings:
            Explanation(
                "vault.passcode-policy-in-settings", .conflict,
                "the rules for the passcode are in the settings, in the table [passcode]",
                remedy: "change them there, and restart the agent")
        case .invalid:
            Explanation(
                "vault.passcode-policy", .invalidInput,
                "there is no such rule for the passcode, or it cannot have that value",
                remedy: "see: latchkey vault passcode policy", numbers: [ClientNumber(.secureStore, 7)])
        case .differs:
            Explanation(
                "vault.passcode-differs", .invalidInput, "the two passcodes differ",
                numbers: [ClientNumber(.logonManager, 10)])
        }
    }

    package static let examples: [PasscodePolicyError] = [.inSettings, .invalid, .differs]
}
