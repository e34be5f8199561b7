import Cryptography
import Groundwork
import Vault

/// What a person has here is behind the vault's passcode, if there is one.
extension OAuthAccount {
    /// Reads what the account holds, before it is used.
    ///
    /// - Throws: ``OAuthAccountError/recordInvalid(account:)``, what the vault throws
    func load() async throws {
        let locks = locks
        do throws(any Error) {
            if isPersonal { try await vault.requirePersonal() }
            let record = try await vault.record(AccountRecords.holding(name))
            guard locks == self.locks else { return }
            var stored = AccountHolding()
            if let record {
                guard let document = try? JSON(parsing: record.content.exposed()) else {
                    throw OAuthAccountError.recordInvalid(account: name)
                }
                stored = try AccountHolding(document, of: name, at: clock(), uptime: uptime)
            }
            (holding, isUnsaved, fault) = (stored, false, nil)
        } catch let error as VaultError where error.isOfLevel {
            lock(by: error)
        }
    }

    /// Forgets what a person has here while the vault's passcode is locked, and reads it again once it is not.
    ///
    /// - Throws: as ``load()``; what was held is forgotten then.
    public func refresh() async throws {
        guard isPersonal else { return }
        do throws(VaultError) {
            try await vault.requirePersonal()
        } catch {
            return lock(by: error)
        }
        changes += 1
        try await flights.join(.change(changes)) { [self] _ in
            do {
                try await load()
            } catch {
                await forget()
                throw error
            }
        }
    }

    func lock(by fault: VaultError) {
        (holding, isUnsaved, self.fault) = (AccountHolding(), false, fault)
        locks += 1
    }

    func forget() { (holding, isUnsaved, fault) = (AccountHolding(), false, nil) }

    /// Whether what it holds is a person's.
    var isPersonal: Bool { !server.isUnattended }

    /// - Throws: `VaultError.levelLocked` while the vault's passcode is locked
    func requireUnlocked() async throws {
        if let fault { throw fault }
        if isPersonal { try await vault.requirePersonal() }
    }
}
