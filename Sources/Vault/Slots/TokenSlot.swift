import CPKCS11
import Cryptography

/// A slot that opens with a key pair on a PKCS#11 token. To make it takes only the public key, to open it the PIN too.
///
/// With a key on P-256, the slot's secret is a Diffie-Hellman agreement between the token's key and one that is
/// forgotten at once; with an RSA key, 32 random bytes that are encrypted to it. The token is needed only to open the
/// vault.
public struct TokenSlot: SlotKey {
    public let kind = Slot.Kind.pkcs11
    private let token: Token
    private let key: TokenURI

    /// - Parameters:
    ///   - token: that the PIN may go to. A slot that names another one does not open.
    ///   - key: names the key on it by `object` or `id`, for new slots.
    public init(_ token: Token, key: TokenURI) {
        self.token = token
        self.key = key
    }

    /// - Throws: ``VaultError``, also ``TokenError/noKey(name:)``, ``TokenError/keyUnsuitable(name:reason:)``
    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        let (uri, publicKey) = try found()
        let (secret, sent) = try Self.agree(with: publicKey)
        let parameters = Parameters(uri: uri, publicKey: publicKey, sent: sent).encoded
        return (try derived(from: secret, parameters), parameters)
    }

    private static func agree(
        with publicKey: PublicKey
    ) throws(VaultError) -> (secret: SecretBytes, sent: [UInt8]) {
        do throws(CryptographyError) {
            guard publicKey.rsaModulus != nil else {
                let (point, secret) = try KeyAgreement.withEphemeralKey(for: publicKey)
                return (secret, point)
            }
            let secret = try SecretBytes.random(Seal.keyBytes)
            return (secret, try KeyAgreement.encryptOAEP(secret, for: publicKey))
        } catch {
            throw .cryptography(error)
        }
    }

    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        guard let slot = Parameters(decoding: parameters) else { throw .slotParametersRefused(kind: kind) }
        let secret = try token.perform(.user) { session throws(VaultError) in
            guard slot.uri.ofToken.fits(session.token) else {
                throw .token(.noToken(uri: slot.uri.ofToken.description))
            }
            let key = try session.key(slot.uri, CKO_PRIVATE_KEY)
            return slot.publicKey.rsaModulus == nil
                ? try session.sharedSecret(of: key, with: slot.sent) : try session.decryptOAEP(slot.sent, by: key)
        }
        return try derived(from: secret, parameters)
    }

    private func derived(from secret: SecretBytes, _ parameters: [UInt8]) throws(VaultError) -> SecretBytes {
        try explained {
            try KeyDerivation.hkdf(
                secret: secret, salt: SHA256.hash(parameters), info: Array("latchkey slot \(kind)".utf8),
                count: Seal.keyBytes)
        }
    }

    /// The public key, and a URI that will find its private key on the same token only.
    private func found() throws(VaultError) -> (TokenURI, PublicKey) {
        try token.perform(.anonymous) { session throws(VaultError) in
            guard key.ofToken.fits(session.token) else { throw .token(.noToken(uri: key.ofToken.description)) }
            let object = try session.key(key, CKO_PUBLIC_KEY)
            let publicKey = try session.publicKey(of: object, name: key.description)
            var uri = TokenURI()
            uri.token = session.token.label.isEmpty ? nil : session.token.label
            uri.serial = session.token.serial.isEmpty ? nil : session.token.serial
            if let id = try session.attribute(CKA_ID, of: object), !id.isEmpty {
                uri.id = id
            } else {
                uri.object = key.object
            }
            // A label may have bytes that are no text, or more of them than fit.
            guard try TokenURI(uri.description) == uri else {
                throw .token(.keyUnsuitable(name: key.description, reason: "a URI cannot name it"))
            }
            return (uri, publicKey)
        }
    }
}

extension TokenSlot {
    /// What is stored with a slot. None of it is secret.
    struct Parameters {
        private static let purpose = "latchkey token slot 1"

        let uri: TokenURI
        let publicKey: PublicKey
        /// The point of the forgotten key, or what was encrypted.
        let sent: [UInt8]

        init(uri: TokenURI, publicKey: PublicKey, sent: [UInt8]) {
            (self.uri, self.publicKey, self.sent) = (uri, publicKey, sent)
        }

        /// `nil` for anything that ``encoded`` does not give.
        init?(decoding bytes: [UInt8]) {
            guard bytes.count <= StoredSlot.parametersLimit,
                var reader = FieldReader(bytes, purpose: Self.purpose), let text = reader.text(),
                let uri = try? TokenURI(text), uri.description == text, uri.object != nil || uri.id != nil,
                let spki = reader.field(), let publicKey = try? PublicKey(spki: spki), publicKey.spki == spki,
                let sent = reader.field(), reader.isAtEnd
            else { return nil }
            if publicKey.rsaModulus != nil {
                guard (2048...8192).contains(publicKey.rsaLength.bits), sent.count == publicKey.rsaLength.bytes else {
                    return nil
                }
            } else {
                guard publicKey.p256Point != nil, (try? PublicKey(p256Point: sent)) != nil else { return nil }
            }
            self.init(uri: uri, publicKey: publicKey, sent: sent)
        }

        var encoded: [UInt8] {
            var writer = FieldWriter(purpose: Self.purpose)
            writer.append(uri.description)
            writer.append(publicKey.spki)
            writer.append(sent)
            return writer.bytes
        }
    }
}
