public import Cryptography
public import FoundationEssentials
public import Groundwork
import Synchronization

/// The compartment `board`: what a passcode opens, beside the root key (SMP A4).
///
/// Records of the levels ``ProtectionLevel/firstUnlock`` and ``ProtectionLevel/unlocked`` are behind it. There is one
/// instance for a vault, and one attempt or change at a time; others get ``PasscodeError/busy``.
///
///     let compartment = Compartment(of: vault)
///     try await compartment.finishWiping()
///     try await compartment.set(passcode)
///     try await vault.commit([.put(name, .token, token, level: .unlocked)])
///     try await compartment.lock()
public final class Compartment: Sendable {
    public typealias PersonalRecords = @Sendable () async throws(VaultError) -> [RecordName]

    static let record = RecordName(scope: "", name: "passcode-board")

    let vault: Vault
    let hardware: PasscodeHardware?
    let cost: ScryptCost
    let date: @Sendable () -> Date
    let personalRecords: PersonalRecords
    private let eraseCopies: @Sendable () -> Void
    private let uptime: @Sendable () -> Duration
    private let wait: UnlockWait
    private let isBusy = Mutex(false)

    /// - Parameters:
    ///   - hardware: gives passcodes a half that a chip has. A passcode that has one cannot be used without it.
    ///   - personalRecords: the records of persons, which go behind the first passcode.
    ///   - eraseCopies: erases copies of the vault that an erasure must not leave.
    ///   - cost: of each guess of a new passcode.
    ///   - date: the best known time; passcodes expire by it.
    ///   - uptime: by a clock that is never set.
    public init(
        of vault: Vault, hardware: PasscodeHardware? = nil,
        personalRecords: @escaping PersonalRecords = { () async throws(VaultError) in [] },
        eraseCopies: @escaping @Sendable () -> Void = {}, cost: ScryptCost = Passphrase.usualCost,
        date: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = { .machineUptime }
    ) {
        (self.vault, self.hardware, self.personalRecords) = (vault, hardware, personalRecords)
        self.eraseCopies = eraseCopies
        (self.cost, self.date, self.uptime) = (cost, date, uptime)
        wait = UnlockWait(since: uptime())
    }

    // MARK: Unlocking

    /// Opens the levels behind the passcode.
    ///
    /// The attempt is counted on the disk before the passcode is tried, and by the chip that guards the vault: on a
    /// file that was put back, or while that chip does not answer, no passcode is tried. Waits between attempts double from one second
    /// to fifteen minutes, also across restarts.
    ///
    /// - Throws: ``VaultError``; ``PasscodeError/wrong(triesLeft:)``, ``PasscodeError/wiped``,
    ///   ``PasscodeError/tooSoon(seconds:)``, ``PasscodeError/expired`` for the right passcode when it has to be
    ///   changed, ``VaultError/levelLocked(path:level:)`` if the levels were locked meanwhile. What cannot be a
    ///   passcode is not counted.
    public func unlock(by entered: SecretBytes) async throws(VaultError) {
        try await alone { () async throws(VaultError) in
            let locks = await vault.levelLocks
            let (keys, state) = try await attempt(try entered.passcode())
            guard !state.isExpired(at: date()) else { throw .passcode(.expired) }
            try await vault.openLevels(keys, since: locks)
            // Those that a power cut after the first passcode has left outside.
            try await vault.protect(try await personalRecords())
        }
    }

    /// Wipes the key of the level ``ProtectionLevel/unlocked`` from memory. An attempt under way opens nothing more.
    /// Does nothing while the default passcode is in use.
    ///
    /// - Returns: whether it was open.
    /// - Throws: ``VaultError`` if it is not known whether there is a passcode; the level is locked then, too.
    @discardableResult
    public func lock() async throws(VaultError) -> Bool {
        let wasOpen: Bool
        do throws(VaultError) {
            guard try await vault.compartment().lock != .defaultPasscode else { return false }
            wasOpen = try await vault.openLevels()[.unlocked] != nil
        } catch {
            await vault.lockLevels([.unlocked])
            throw error
        }
        await vault.lockLevels([.unlocked])
        return wasOpen
    }

    /// One attempt, counted before it is made.
    ///
    /// - Returns: the keys of the levels, which are not open yet.
    func attempt(
        _ passcode: Passcode
    ) async throws(VaultError) -> (keys: [ProtectionLevel: LevelKey], state: CompartmentState) {
        let state = try await vault.compartment()
        guard case .passcode(let key, _) = state.lock else { throw .passcode(.noPasscode) }
        try await vault.checkLevelKeys(isSet: true)
        guard !state.tries.isUsedUp(state.policy) else { throw await wiped() }
        let seconds = wait(state.tries)
        guard seconds <= 0 else { throw .passcode(.tooSoon(seconds: Int(seconds.rounded(.up)))) }
        // A chip that does not answer costs no attempt.
        let chip = try await chipSecret(of: key)
        let now = date()
        wait.begin(at: uptime())
        let counted = try await vault.counted { vault throws(VaultError) in
            try vault.changeCompartment { current, _, _ in
                guard current == state else { throw PasscodeError.busy }
                current.tries.count(at: now)
            }.state
        }
        killPoint("passcode-counted")
        let derived = try await key.derive(from: passcode, chip: chip, vaultID: try await vault.vaultID)
        guard let keys = try await vault.levelKeys(by: derived) else {
            guard !counted.tries.isUsedUp(counted.policy) else { throw await wiped() }
            throw .passcode(.wrong(triesLeft: counted.tries.left(counted.policy)))
        }
        killPoint("passcode-opened")
        let reset = try await vault.changeCompartment(counting: false) { current, _, _ in
            guard current == counted else { throw PasscodeError.busy }
            current.tries = CountedTries()
        }.state
        killPoint("passcode-reset")
        return (keys, reset)
    }

    func chipSecret(of key: PasscodeKey) async throws(VaultError) -> SecretBytes? {
        guard let place = key.place else { return nil }
        guard let hardware else { throw .passcode(.hardwareMissing) }
        return try await hardware.read(place)
    }

    // MARK: Erasing

    /// Erases everything behind the passcode, and the passcode, such as when it is forgotten.
    ///
    /// - Throws: ``VaultError``; once it has begun, ``finishWiping()`` goes on.
    public func erase() async throws(VaultError) {
        try await alone { () async throws(VaultError) in try await wipe() }
    }

    /// Goes on with an erasure that was cut off; call it after each start.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func finishWiping() async throws(VaultError) -> Bool {
        try await alone { () async throws(VaultError) in try await wipeRest() }
    }

    /// Erases everything behind the passcode.
    ///
    /// - Returns: what the last wrong attempt gets.
    private func wiped() async -> VaultError {
        do throws(VaultError) {
            try await wipe()
            return .passcode(.wiped)
        } catch {
            return error
        }
    }

    private func wipe() async throws(VaultError) {
        _ = try await vault.changeCompartment { state, file, _ in
            switch state.lock {
            case .none, .wiping: return
            case .defaultPasscode: state.lock = .wiping(place: nil)
            case .passcode(let key, _): state.lock = .wiping(place: key.place)
            }
            try file.destroyLevelKeys()
        }
        await vault.countLater()
        await vault.lockLevels(ProtectionLevel.behindPasscode)
        try await vault.forgetFormerBytes()
        killPoint("passcode-wiping")
        try await wipeRest()
    }

    @discardableResult
    func wipeRest() async throws(VaultError) -> Bool {
        guard case .wiping(let place) = try await vault.compartment().lock else { return false }
        if let place {
            guard let hardware else { throw .passcode(.hardwareMissing) }
            try await hardware.remove(place)
        }
        eraseCopies()
        try await vault.removeWiped(try await personalRecords())
        return true
    }

    // MARK: One at a time

    /// - Throws: ``PasscodeError/busy``, and what `body` throws
    func alone<Result>(_ body: () async throws(VaultError) -> Result) async throws(VaultError) -> Result {
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { throw .passcode(.busy) }
        defer { isBusy.withLock { $0 = false } }
        return try await body()
    }

    /// In seconds; 0 if an attempt can be made.
    func wait(_ tries: CountedTries) -> Double { tries.wait(at: date(), waited: wait.length(at: uptime())) }
}

extension SecretBytes {
    /// - Throws: ``PasscodeFault/argument`` as ``PasscodeError/refused(_:)``, also for an empty one
    func passcode() throws(VaultError) -> Passcode {
        let passcode = try explained { try Passcode(self) }
        guard !passcode.isEmpty else { throw .passcode(.refused(.argument)) }
        return passcode
    }
}
