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

    private var keys: NamedKeys { NamedKeys(host.vault, scope: Self.scope, limit: Self.limit) }

    /// By name.
    package func all() async throws -> [(name: String, key: PublicKey)] {
        try await keys.all().map { ($0.reference.name, $0.key) }
    }

    /// Stores a key, or makes one.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``, ``AgentError/signingKeyExists(_:)``,
    ///   ``AgentError/tooManySigningKeys(limit:)``, what the vault throws; `CryptographyError` for a PKCS#12 file with
    ///   another password, without a key, or of an encryption that is not read
    package func add(_ name: String, from source: NamedKeys.Source) async throws -> PublicKey {
        do {
            return try await keys.add(name, from: source)
        } catch ObjectError.nameNotAllowed {
            throw AgentError.badRequest(
                member: "name",
                fault: "is not 1 to \(KeyReference.nameLimit) lower-case letters, digits and hyphens")
        } catch ObjectError.exists {
            throw AgentError.signingKeyExists(name)
        } catch ObjectError.full(let limit) {
            throw AgentError.tooManySigningKeys(limit: limit)
        } catch VaultError.cryptography(let error) {
            throw Self.unusable(source, error)
        }
    }

    private static func unusable(_ source: NamedKeys.Source, _ error: CryptographyError) -> any Error {
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
        guard try await keys.remove(name) else { throw GatewayError.unsignable(.keyUnknown(name: name)) }
    }

    /// A signature as it was asked for, with its key and its lifetime.
    ///
    /// - Throws: `GatewayError.unsignable`, what the vault throws
    package func resolved(_ asked: SigningRequest) async throws -> BodySigning {
        var signing = asked.signing
        signing.lifetime = signing.lifetime ?? Int64(host.settings[SigningSettings.self].lifetimeSeconds)
        guard let name = asked.key else { return signing }
        guard let key = try await keys.key(named: name) else {
            throw GatewayError.unsignable(.keyUnknown(name: name))
        }
        signing.key = key
        return signing
    }
}
