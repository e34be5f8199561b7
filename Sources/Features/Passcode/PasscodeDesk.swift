import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import Vault

/// Locks and unlocks the passcode, and has the features forget, or read again, what they have of persons.
package final class PasscodeDesk: Sendable {
    package let compartment: Compartment
    let timer = AsyncCondition(LockTimer())
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
        try await noteOpen()
        host.report(PasscodeEvent.didUnlock)
    }

    /// - Returns: whether it was open.
    /// - Throws: `VaultError`; it is locked then, too.
    @discardableResult
    func lock(_ reason: PasscodeEvent.Reason) async throws -> Bool {
        let wasOpen = try? await compartment.status().isOpen
        let result: Result<Void, any Error>
        do {
            try await compartment.lock()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        guard wasOpen != false else { return false }
        timer.change { $0.locked() }
        await refresh()
        host.report(PasscodeEvent.didLock(reason))
        try result.get()
        return true
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
        try await noteOpen()
        host.report(PasscodeEvent.changed)
    }

    /// - Throws: as `Compartment.turnOff(from:)`
    func turnOff() async throws {
        try await compartment.turnOff()
        timer.change { $0.locked() }
        await refresh()
        host.report(PasscodeEvent.turnedOff)
    }

    /// - Throws: ``PasscodePolicyError/inSettings``; as `Compartment.setPolicy(_:)`
    func setPolicy(_ policy: PasscodePolicy) async throws {
        guard settingsPolicy == nil else { throw PasscodePolicyError.inSettings }
        try await compartment.setPolicy(policy)
        try await noteOpen()
    }

    /// Erases everything behind the passcode.
    func forget() async throws {
        try await compartment.erase()
        await noteWiped()
    }

    // MARK: Starting

    /// Goes on with an erasure that was cut off, and takes the rules of the settings.
    func begin() async throws {
        if try await compartment.finishWiping() { await noteWiped() }
        try await takeSettings()
        let status = try await compartment.status()
        if status.state == .none, status.policy.applied.isDefaultOn { try await compartment.turnOff() }
        if let expires = status.expires {
            let days = Int((expires.timeIntervalSince(host.time.now) / 86_400).rounded(.down))
            if (0...Self.warnedDays).contains(days) { host.report(PasscodeEvent.expiresSoon(days: days)) }
        }
    }

    static let warnedDays = 7

    /// Locks when it is time, until the task is canceled.
    func lockInTime() async throws {
        while !Task.isCancelled {
            let deadline = await withTaskCancellationHandler {
                await timer.wait { $0.deadline ?? (Task.isCancelled ? .zero : nil) }
            } onCancel: {
                timer.change { _ in }
            }
            try Task.checkCancellation()
            // A clock that stands still while the board sleeps would wake too late.
            let rest = min(deadline - Self.uptime, .seconds(10))
            guard rest <= .zero else {
                try await Task.sleep(for: rest)
                continue
            }
            // A client may have come meanwhile.
            if timer.read({ $0.deadline }) == deadline { try await lock(.time) }
        }
    }

    // MARK: Steps

    /// Reports what an attempt with a wrong passcode has done.
    private func judged(_ attempt: () async throws(VaultError) -> Void) async throws {
        do throws(VaultError) {
            try await attempt()
        } catch {
            switch error {
            case .passcode(.wrong(let left)): host.report(PasscodeEvent.refused(triesLeft: left))
            case .passcode(.wiped): await noteWiped()
            default: break
            }
            throw error
        }
    }

    private func noteOpen() async throws {
        try await takeSettings()
        let status = try await compartment.status()
        if status.state == .set, status.isOpen {
            timer.change { $0.unlocked(at: Self.uptime, timeout: status.policy.applied.lockTimeoutSeconds) }
        }
        await refresh()
    }

    private func noteWiped() async {
        timer.change { $0.locked() }
        await refresh()
        host.report(PasscodeEvent.didWipe)
    }

    /// Rules of the settings replace those that are stored, once the passcode is open.
    private func takeSettings() async throws {
        guard let policy = settingsPolicy else { return }
        let status = try await compartment.status()
        guard status.policy != policy, status.state != .set || status.isOpen else { return }
        try await compartment.setPolicy(policy)
    }

    private func refresh() async { for feature in host.features { await feature.passcodeDidChange() } }
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
