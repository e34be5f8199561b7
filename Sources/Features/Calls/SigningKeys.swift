import AgentCore
import Cryptography
import Gateway
import Vault

/// The keys that bodies of calls may be signed with beside the device's own: in the vault, by names of the owner's
/// choice.
package struct SigningKeys {
    /// The most keys that are kept.
    private static let limit = 32
    /// The scope of their records; no gateway's has this form.
    private static let scope = "signing-keys"

    package let host: Host

    private var keys: VaultKeys { host.vault.keys(of: Self.scope) }

    /// By name.
    package func all() async throws -> [(name: String, key: PublicKey)] {
        var all: [(name: String, key: PublicKey)] = []
        for reference in try await keys.references().sorted(by: { $0.name < $1.name }) {
            guard let key = try await keys.key(reference) else { continue }
            all.append((reference.name, key.publicKey))
        }
        return all
    }

    /// Where a key to sign with comes from.
    package enum Source {
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
    package func add(_ name: String, from source: Source) async throws -> PublicKey {
        guard let reference = KeyReference(.software, name: name) else {
            throw AgentError.badRequest(
                member: "name",
                fault: "is not 1 to \(KeyReference.nameLimit) lower-case letters, digits and hyphens")
        }
        let names = try await keys.references()
        guard !names.contains(reference) else { throw AgentError.signingKeyExists(name) }
        guard names.count < Self.limit else {
            throw AgentError.tooManySigningKeys(limit: Self.limit)
        }
        do {
            switch source {
            case .made: return try await keys.make(.rsa(bits: 2048), as: reference).publicKey
            case .pem(let pem): return try await keys.adopt(pem: pem, as: reference).publicKey
            case .pkcs12(let file, let password):
                return try await keys.adopt(pkcs12: file, password: password, as: reference).publicKey
            }
        } catch VaultError.cryptography(let error) {
            throw Self.unusable(source, error)
        }
    }

    private static func unusable(_ source: Source, _ error: CryptographyError) -> any Error {
        let fault = "contains no private key that can sign (RSA of 2048 to 8192 bits or EC on P-256"
        switch (source, error) {
        case (.made, _), (.pkcs12, .wrongPassword), (.pkcs12, .noKey), (.pkcs12, .unsupportedEncryption): return error
        case (.pem, _):
            return AgentError.badRequest(
                member: "pem", fault: fault + ", as unencrypted PKCS#8): " + error.reason)
        case (.pkcs12, _): return AgentError.badRequest(member: "pkcs12", fault: fault + "): " + error.reason)
        }
    }

    /// - Throws: `GatewayError.unsignable`, what the vault throws
    package func remove(_ name: String) async throws {
        guard let reference = KeyReference(.software, name: name),
            try await keys.references().contains(reference)
        else { throw GatewayError.unsignable(.keyUnknown(name: name)) }
        try await host.vault.commit(keys.removal(of: reference))
    }

    /// A signature as it was asked for, with its key and its lifetime.
    ///
    /// - Throws: `GatewayError.unsignable`, what the vault throws
    package func resolved(_ asked: SigningRequest) async throws -> BodySigning {
        var signing = asked.signing
        signing.lifetime = signing.lifetime ?? Int64(host.settings[SigningSettings.self].lifetimeSeconds)
        guard let name = asked.key else { return signing }
        let reference = KeyReference(.software, name: name)
        guard let reference, let key = try await keys.key(reference) else {
            throw GatewayError.unsignable(.keyUnknown(name: name))
        }
        signing.key = key
        return signing
    }
}
