import Cryptography
import Groundwork
import Vault

/// Keeps an identity with the hardware that it was made on: a copy of a card must not speak in the name of the board
/// that it was copied from.
extension HardwareFeature {
    static let serialNumber = RecordName(scope: "", name: "board-serial-number")

    /// Remembers the board's serial number in the vault, or compares it. Boards without one are not told apart.
    ///
    /// - Throws: `VaultError.otherBoard`
    package func checkHardware() async throws {
        guard let found = host.board.serialNumber else { return }
        guard let record = try await host.vault.record(Self.serialNumber) else {
            // On a disk that cannot be written to, the next start remembers it.
            try? await host.vault.commit([remembering(found)])
            return
        }
        let known = record.content.exposedText()
        guard known == found else { throw VaultError.otherBoard(path: host.vault.path, known: known, found: found) }
    }

    private func remembering(_ serial: String) -> Change {
        .put(Self.serialNumber, .state, SecretBytes(utf8: serial))
    }

    /// Makes this board the one that the identity is of.
    ///
    /// - Throws: ``HardwareError/ownIdentity``, what the vault throws
    package func adoptIdentity() async throws {
        try await host.vault.commit([remembering(try foreignTo())])
    }

    /// Forgets everything that came from the other board: its identity, accounts and messages.
    ///
    /// - Throws: ``HardwareError/ownIdentity``, what the vault throws
    package func discardIdentity() async throws {
        var changes = [remembering(try foreignTo())]
        for scope in try await host.vault.scopes() {
            changes += try await host.vault.names(scope: scope).filter { $0 != Self.serialNumber }.map(Change.remove)
        }
        // The messages first: a kill in between leaves an identity that can be discarded again.
        try StateDirectory.removeMessages(in: host.settings.stateDirectory)
        try await host.vault.commit(changes)
    }

    /// - Returns: the serial number of this board, to which the identity is foreign.
    private func foreignTo() throws -> String {
        guard let fault = host.vaultFault else { throw HardwareError.ownIdentity }
        guard case .otherBoard(_, _, let found) = fault else { throw fault }
        return found
    }
}

/// Why an identity cannot be moved to this board.
package enum HardwareError: Explained, Equatable {
    /// It is this board's already, or nothing tells boards apart.
    case ownIdentity

    package var explanation: Explanation {
        Explanation(
            "identity.own", .conflict, "the identity on this board is not another board's",
            remedy: "to remove it, use latchkey deregister or latchkey reset")
    }

    package static let examples: [HardwareError] = [.ownIdentity]
}
