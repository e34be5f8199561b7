import Cryptography
import Gateway
import Vault

/// The keys that bodies of calls may be signed with beside the device's own: in the vault, by names of the owner's
/// choice.
extension Agent {
    /// The most keys that are kept.
    static let signingKeyLimit = 32
    /// The scope of their records; no gateway's has this form.
    private static let signingScope = "signing-keys"

    private nonisolated var keysForSigning: SoftwareKeys { vault.keys(of: Self.signingScope) }

    /// By name.
    func signingKeys() async throws -> [(name: String, key: PublicKey)] {
        var keys: [(name: String, key: PublicKey)] = []
        for reference in try await keysForSigning.references().sorted(by: { $0.name < $1.name }) {
            guard let key = try await keysForSigning.key(reference) else { continue }
            keys.append((reference.name, key.publicKey))
        }
        return keys
    }

    /// Stores a key, or makes an RSA key of 2048 bits.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``, ``AgentError/signingKeyExists(_:)``,
    ///   ``AgentError/tooManySigningKeys(limit:)``, what the vault throws
    func addSigningKey(_ name: String, pem: SecretBytes?) async throws -> PublicKey {
        guard let reference = KeyReference(.software, name: name) else {
            throw AgentError.badRequest(
                member: "name",
                fault: "is not 1 to \(KeyReference.nameLimit) lower-case letters, digits and hyphens")
        }
        let names = try await keysForSigning.references()
        guard !names.contains(reference) else { throw AgentError.signingKeyExists(name) }
        guard names.count < Self.signingKeyLimit else {
            throw AgentError.tooManySigningKeys(limit: Self.signingKeyLimit)
        }
        guard let pem else { return try await keysForSigning.make(.rsa(bits: 2048), as: reference).publicKey }
        do {
            return try await keysForSigning.adopt(pem: pem, as: reference).publicKey
        } catch VaultError.cryptography(let error) {
            throw AgentError.badRequest(
                member: "pem",
                fault:
                    "holds no private key that can sign (RSA of 2048 to 8192 bits or EC on P-256, as unencrypted PKCS#8): "
                    + error.reason)
        }
    }

    /// - Throws: `GatewayError.unsignable`, what the vault throws
    func removeSigningKey(_ name: String) async throws {
        guard let reference = KeyReference(.software, name: name),
            try await keysForSigning.references().contains(reference)
        else { throw GatewayError.unsignable(.keyUnknown(name: name)) }
        try await vault.commit(keysForSigning.removal(of: reference))
    }

    /// A call as it was asked for, with the key and the lifetime of its signature.
    ///
    /// - Throws: `GatewayError.unsignable`, what the vault throws
    func withSigningKey(_ asked: CallRequest) async throws -> CallRequest {
        guard asked.call.signing != nil else { return asked }
        var asked = asked
        let lifetime = asked.signing?.lifetime ?? Int64(configuration[SigningFeature.lifetimeSeconds])
        asked.call.signing?.lifetime = lifetime
        guard let name = asked.signing?.key else { return asked }
        let reference = KeyReference(.software, name: name)
        guard let reference, let key = try await keysForSigning.key(reference) else {
            throw GatewayError.unsignable(.keyUnknown(name: name))
        }
        asked.call.signing?.key = key
        return asked
    }
}
