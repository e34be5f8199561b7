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

    /// Where a key to sign with comes from.
    enum SigningKeySource {
        /// An RSA key of 2048 bits is made.
        case made
        /// Text with an unencrypted PKCS#8 key.
        case pem(SecretBytes)
        /// A file of RFC 7292.
        case pkcs12(SecretBytes, password: SecretBytes)
    }

    /// Stores a key, or makes one.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``, ``AgentError/signingKeyExists(_:)``,
    ///   ``AgentError/tooManySigningKeys(limit:)``, what the vault throws; `CryptographyError` for a PKCS#12 file with
    ///   another password, without a key, or of an encryption that is not read
    func addSigningKey(_ name: String, from source: SigningKeySource) async throws -> PublicKey {
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
        do {
            switch source {
            case .made: return try await keysForSigning.make(.rsa(bits: 2048), as: reference).publicKey
            case .pem(let pem): return try await keysForSigning.adopt(pem: pem, as: reference).publicKey
            case .pkcs12(let file, let password):
                return try await keysForSigning.adopt(pkcs12: file, password: password, as: reference).publicKey
            }
        } catch VaultError.cryptography(let error) {
            throw Self.unusable(source, error)
        }
    }

    private static func unusable(_ source: SigningKeySource, _ error: CryptographyError) -> any Error {
        let fault = "holds no private key that can sign (RSA of 2048 to 8192 bits or EC on P-256"
        switch (source, error) {
        case (.made, _), (.pkcs12, .wrongPassword), (.pkcs12, .noKey), (.pkcs12, .legacyEncryption): return error
        case (.pem, _):
            return AgentError.badRequest(
                member: "pem", fault: fault + ", as unencrypted PKCS#8): " + error.reason)
        case (.pkcs12, _): return AgentError.badRequest(member: "pkcs12", fault: fault + "): " + error.reason)
        }
    }

    /// - Throws: `GatewayError.unsignable`, what the vault throws
    func removeSigningKey(_ name: String) async throws {
        guard let reference = KeyReference(.software, name: name),
            try await keysForSigning.references().contains(reference)
        else { throw GatewayError.unsignable(.keyUnknown(name: name)) }
        try await vault.commit(keysForSigning.removal(of: reference))
    }

    /// A signature as it was asked for, with its key and its lifetime.
    ///
    /// - Throws: `GatewayError.unsignable`, what the vault throws
    func resolved(_ asked: SigningRequest) async throws -> BodySigning {
        var signing = asked.signing
        signing.lifetime = signing.lifetime ?? Int64(configuration[SigningFeature.lifetimeSeconds])
        guard let name = asked.key else { return signing }
        let reference = KeyReference(.software, name: name)
        guard let reference, let key = try await keysForSigning.key(reference) else {
            throw GatewayError.unsignable(.keyUnknown(name: name))
        }
        signing.key = key
        return signing
    }
}
