import Cryptography
import FoundationEssentials
import Groundwork
import Storage

/// The guard against an earlier copy of the whole file: a counter in a TPM, beside an anchor in the list of records.
///
/// Tries of the passcode, and changes of it, of slots and of registrations count, and so do starts. The chip is asked
/// on ``NamedThread/keys``, never within a transaction. What a chip that does not answer means depends on what counts:
/// a try of the passcode is not judged before the chip has counted it; everything else is committed all the same, and
/// counts later, when the chip is asked again.
extension Vault {
    /// Guards the file by a counter in a chip from now on, if it is not guarded already. The counter is made when it is
    /// needed first.
    public func guardAgainstRollback(by chip: Chip) { guarding = guarding ?? RollbackGuard(chip: chip) }

    /// Whether the file has a counter, in use or to be removed.
    ///
    /// - Throws: ``VaultError``
    public func hasCounter() throws(VaultError) -> Bool { try !root().anchoring.isEmpty }

    /// Compares the file with the counter; makes the counter if there is none. Does nothing in a vault without a guard.
    ///
    /// - Throws: ``VaultError``; ``RollbackError``, which stays until ``acceptRollback()``, and other errors of a chip
    ///   that does not answer now.
    public func checkRollback() async throws(VaultError) {
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        try await settle()
    }

    /// Compares the file with the counter, and counts a start; at most one commit a minute.
    ///
    /// - Throws: as ``checkRollback()``
    public func countStart() async throws(VaultError) {
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        try await settle()
        guard let anchor = try root().anchoring.anchor, abs(Self.now - anchor.date) >= 60 else { return }
        try writeRoot { root in count(&root) }
        try await settle()
    }

    /// Goes on with this file, whatever the counter has.
    ///
    /// - Throws: ``VaultError``; nothing has changed then.
    public func acceptRollback() async throws(VaultError) {
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        guard let guarding else { return }
        let chip = guarding.chip
        let (numbers, authorization) = try counterKeys()
        let found = try await KeyMaker.shared.run { () throws(VaultError) in
            try ChipCounter.prepare(under: numbers, in: chip, authorization)
        }
        try writeRoot { root in
            root.anchoring.retire()
            root.anchoring.use(Anchor(counter: found.counter, value: found.value ?? 0))
        }
        self.guarding = RollbackGuard(chip: chip)
        try await settle()
    }

    /// Removes the counter from the chip, and the file's anchor.
    ///
    /// - Throws: ``VaultError``; the rest is removed by the next call then.
    public func endGuarding(by chip: Chip) async throws(VaultError) {
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        guarding = nil
        guard try hasCounter() else { return }
        try writeRoot { root in root.anchoring.retire() }
        killPoint("counter-retired")
        try await removeRetired(from: chip)
    }

    // MARK: Counting

    /// Has a commit count, within its transaction; ``countLater()`` follows it.
    func count(_ root: inout ManifestRoot) {
        guard let isSettled = guarding?.isSettled else { return }
        // Also where the transaction fails: it is not known then what the file has.
        guarding?.isSettled = false
        guard isSettled, let anchor = root.anchoring.anchor else {
            guarding?.isDue = true
            return
        }
        guarding?.isDue = false
        root.anchoring.use(Anchor(counter: anchor.counter, value: anchor.value &+ 1, date: Self.now))
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Has the counter follow the file, while other calls go on. A chip that does not answer is asked again by the next
    /// commit that counts, and by the next start.
    func countLater() {
        guard guarding != nil else { return }
        killPoint("anchor-written")
        Task { try? await self.raiseCounter() }
    }

    private func raiseCounter() async throws(VaultError) {
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        try await settle()
        guard guarding?.isDue == true else { return }
        try writeRoot { root in count(&root) }
        try await settle()
    }

    /// Makes a commit that the counter has counted when this returns.
    ///
    /// - Throws: ``VaultError``; if the chip could not be asked before the commit, nothing has changed.
    func counted<Result: Sendable>(
        _ commit: @Sendable (isolated Vault) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        guard guarding != nil else { return try commit(self) }
        await anchorTurn.lock()
        defer { anchorTurn.unlock() }
        repeat { try await settle() } while guarding?.isSettled == false
        let result = try commit(self)
        killPoint("anchor-written")
        try await settle()
        return result
    }

    // MARK: The chip

    /// Asks the chip until its counter has what the file has. Only the holder of ``anchorTurn`` may call it.
    func settle() async throws(VaultError) {
        do throws(VaultError) {
            if let fault = guarding?.fault { throw .rollback(fault) }
            repeat { try await settleOnce() } while guarding?.isSettled == false
        } catch {
            let found: RollbackError? =
                switch error {
                case .rollback(let fault): fault
                case .chip(.indexMissing): .counterMissing
                case .chip(.otherChip): .otherChip
                default: nil
                }
            guard let found else { throw error }
            guarding?.fault = found
            guarding?.isSettled = false
            throw .rollback(found)
        }
    }

    private func settleOnce() async throws(VaultError) {
        guard let chip = guarding?.chip else { return }
        let (numbers, authorization) = try counterKeys()
        guard let anchor = try root().anchoring.anchor else {
            // One of these has the number of the next, or its room.
            if try !root().anchoring.retired.isEmpty { try await removeRetired(from: chip) }
            let found = try await KeyMaker.shared.run { () throws(VaultError) in
                try ChipCounter.prepare(under: numbers, in: chip, authorization)
            }
            // A file that has a counter, and does not know it, is from before the counter was made.
            guard found.value == nil else { throw .rollback(.rolledBack) }
            killPoint("counter-made")
            try writeRoot { root in root.anchoring.use(Anchor(counter: found.counter)) }
            killPoint("anchor-planned")
            return
        }
        let value = try await KeyMaker.shared.run { () throws(VaultError) in
            try anchor.counter.value(in: chip, authorization) { found in
                guard let found else { return anchor.value == 0 }
                return found < .max && found + 1 == anchor.value
            }
        }
        killPoint("counter-raised")
        // A commit has counted meanwhile, or there is another root key.
        guard try root().anchoring.anchor == anchor, guarding != nil else { return }
        guard let value else { throw .rollback(.counterMissing) }
        if anchor.value == 0 {
            try writeRoot { root in root.anchoring.use(Anchor(counter: anchor.counter, value: value)) }
        } else if value != anchor.value {
            throw .rollback(value > anchor.value ? .rolledBack : .counterBehind)
        }
        guarding?.isSettled = true
        // What cannot be removed now is tried again; it guards nothing.
        if try !root().anchoring.retired.isEmpty { try? await removeRetired(from: chip) }
    }

    /// Counters of other chips are gone, or will never be used.
    private func removeRetired(from chip: Chip) async throws(VaultError) {
        let retired = try root().anchoring.retired
        try await KeyMaker.shared.run { () throws(VaultError) in
            for index in retired {
                do throws(VaultError) {
                    try index.remove(from: chip)
                } catch .chip(.otherChip) {}
            }
        }
        try writeRoot { root in root.anchoring.removed(retired) }
    }

    // MARK: The file

    private func root() throws(VaultError) -> ManifestRoot {
        let unsealed = try access()
        return try explained { try root(unsealed) }
    }

    private func counterKeys() throws(VaultError) -> (numbers: [UInt32], authorization: SecretBytes) {
        let seal = try access().seal
        return try explained { try seal.counterKeys() }
    }

    /// Changes the root alone, in a commit of its own.
    private func writeRoot(_ change: (inout ManifestRoot) -> Void) throws(VaultError) {
        let unsealed = try access()
        let written = try explained {
            try unsealed.file.database.transaction {
                var root = try root(unsealed)
                root.generation += 1
                change(&root)
                try unsealed.file.write(root, unsealed.seal)
                return root
            }
        }
        noteWritten(written)
    }
}
