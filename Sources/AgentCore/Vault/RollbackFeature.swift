import Groundwork
import LocalAPI
import Vault

/// Notices when an earlier copy of the vault was put back, by a counter in the board's TPM.
package struct RollbackFeature: Feature {
    package let host: Host

    package static var needsVault: Bool { false }
    package static var checks: [any HealthCheck] { [RollbackCheck()] }
    package static var errors: [any Explained.Type] { [RollbackError.self, RollbackDecisionError.self] }

    package init(_ host: Host) { self.host = host }

    /// Begins to guard the open vault.
    ///
    /// - Throws: where the settings refuse an earlier copy: `VaultError` for one, or for a chip that does not answer.
    package func begin() async throws {
        guard try await host.guardVault(), host.settings.vault.rollback == .refuse else { return }
        do {
            try await host.vault.checkRollback()
        } catch VaultError.rollback(let fault) {
            if host.vaultFault != .rollback(fault) { host.report(VaultEvent.rolledBack(fault)) }
            throw VaultError.rollback(fault)
        }
    }

    package func services() -> [any Service] { [host.restarting("rollback guard") { try await self.run() }] }

    /// Compares and counts the start, or removes the counter that is no longer wanted, as soon as the chip answers.
    private func run() async throws {
        var backoff = Backoff(initial: .seconds(10), cap: .seconds(600))
        while true {
            do {
                guard host.settings.vault.rollback != .off else {
                    return try await host.vault.endGuarding(by: host.hardware.chip)
                }
                return try await host.vault.countStart()
            } catch VaultError.rollback(let fault) {
                return host.report(VaultEvent.rolledBack(fault))
            } catch VaultError.chip {
                // Nothing waits for it, and doctor says so.
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    package func examine(into state: inout AgentState) async throws {
        switch host.vaultFault {
        case nil:
            state.rollback = .notGuarded
            guard try await host.guardVault() else { return }
            do throws(VaultError) {
                try await host.vault.checkRollback()
                state.rollback = .guarded
            } catch {
                state.rollback = .fault(error)
            }
        case .rollback(let fault)?: state.rollback = .fault(.rollback(fault))
        default: break
        }
    }

    package func addRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/accept-rollback", needs: .operate,
            .init(
                "Go on with the sealed store, although its counter in the TPM shows that it is an earlier copy",
                answer: .object(all: ["guarded": .boolean("whether a TPM guards the store")]))
        ) { request in
            guard request.isOwner else { throw RollbackDecisionError.onlyOwners }
            switch self.host.vaultFault {
            case nil, .rollback?: break
            case let fault?: throw fault
            }
            try await self.host.vault.acceptRollback()
            return .json(["guarded": .bool(try await self.host.guardsVault())])
        }
    }
}

extension Host {
    /// Whether the settings or a slot use the TPM for the vault or the board's key.
    func usesChip() async throws -> Bool {
        let isSlot = try await vault.slots().contains { $0.kind == .tpm }
        return isSlot || settings.vault.slots.contains(.tpm) || settings.identity.choice.keeper == .tpm
    }

    /// Begins to guard the open vault, where the settings or the vault ask for it.
    ///
    /// - Returns: whether it is guarded.
    @discardableResult
    func guardVault() async throws -> Bool {
        guard try await guardsVault() else { return false }
        await vault.guardAgainstRollback(by: hardware.chip)
        return true
    }

    /// Whether a counter in the TPM guards the vault: a TPM that nothing else uses is left alone, unless the settings
    /// refuse earlier copies, or the vault has a counter there.
    func guardsVault() async throws -> Bool {
        switch settings.vault.rollback {
        case .off: return false
        case .refuse: return true
        case .report:
            guard try await !vault.hasCounter() else { return true }
            return try await usesChip()
        }
    }
}

/// Why a person may not decide about an earlier copy of the vault.
package enum RollbackDecisionError: Explained, Equatable {
    case onlyOwners

    package var explanation: Explanation {
        Explanation(
            "vault.accept-only-owners", .permission,
            "only root and the agent's user may go on with an earlier copy of the sealed store", remedy: "use sudo")
    }

    package static let examples: [RollbackDecisionError] = [.onlyOwners]
}
