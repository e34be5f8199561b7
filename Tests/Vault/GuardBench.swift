import Cryptography
import Foundation
import TestSupport

@testable import Vault

/// A vault that a TPM of its own guards, and earlier copies of its file.
final class GuardBench: Sendable {
    let bench: PasscodeBench
    let software: SoftwareTPM
    var desk: Desk { bench.desk }
    var chip: Chip { software.chip }

    init() throws {
        bench = try PasscodeBench()
        software = try SoftwareTPM()
    }

    /// The vault, guarded.
    func open(in other: SoftwareTPM? = nil) async throws -> Vault {
        let vault = try await desk.open()
        await vault.guardAgainstRollback(by: (other ?? software).chip)
        return vault
    }

    /// Runs `body` with the guarded vault, and closes it.
    @discardableResult
    func withVault<Result: Sendable>(_ body: (Vault) async throws -> Result) async throws -> Result {
        let vault = try await open()
        let result = try await body(vault)
        await vault.close()
        return result
    }

    /// A vault with an open passcode and a record, which has counted; closed.
    func fill(limit: Int = 0) async throws {
        try await withVault { vault in
            var policy = PasscodePolicy()
            policy.retryLimit = limit
            try await bench.compartment(of: vault).set(PasscodeBench.right, policy: policy)
            try await vault.put(token, "token")
            try await vault.checkRollback()
        }
    }

    /// A closed vault's file.
    func copy() throws -> Data { try desk.bytes() }

    func putBack(_ copy: Data) throws {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: desk.path + suffix) }
        try desk.write(copy, to: desk.path)
    }

    /// What a start finds.
    func fault(in other: SoftwareTPM? = nil) async throws -> RollbackError? {
        let vault = try await open(in: other)
        do {
            try await vault.checkRollback()
            await vault.close()
            return nil
        } catch VaultError.rollback(let fault) {
            await vault.close()
            return fault
        }
    }
}
