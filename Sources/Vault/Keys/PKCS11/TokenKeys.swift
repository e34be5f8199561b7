import CPKCS11
import Cryptography
import Groundwork

/// Private keys on a PKCS#11 token: made there, never leaving it.
///
/// A key that is made here has the label `latchkey VAULT NAME`, where `VAULT` is the vault's id in hexadecimal, so that
/// several boards can share one token. Nothing with another label is ever changed.
public struct TokenKeys: KeyKeeper {
    /// Of the `CKA_ID` of a key that is made here.
    static let idBytes = 16

    private let token: Token
    private let existing: TokenURI?

    /// - Parameter existing: a key that is on the token already, with `object` or `id`: it is taken instead of a new
    ///   one.
    public init(_ token: Token, existing: TokenURI? = nil) {
        self.token = token
        self.existing = existing
    }

    public var makesNewKeys: Bool { existing == nil }

    /// Of the labels of a vault's keys.
    private static func prefix(_ vaultID: [UInt8]) -> String { "latchkey \(Hex.encode(vaultID)) " }

    /// - Throws: ``VaultError``, also ``TokenError/mechanismMissing(name:)`` for a token without what TLS needs, and
    ///   ``TokenError/keyExtractable(name:)`` for one that would give the key away. No key is left then.
    public func make(
        _ algorithm: PrivateKey.Algorithm, name: String, of vaultID: [UInt8]
    ) throws(VaultError) -> KeptKey {
        if let existing { return try adopt(existing) }
        let label = Self.prefix(vaultID) + name
        let id = try explained { try Random.bytes(Self.idBytes) }
        return try token.perform(.writing) { session throws(VaultError) in
            let handle = TokenKeyHandle(id: id, label: Array(label.utf8), serial: session.token.serial, isOurs: true)
            let pair = try session.generate(algorithm, handle)
            do throws(VaultError) {
                try session.checkStaysInside(pair.privateKey, name: label)
                let publicKey = try session.publicKey(of: pair.publicKey, name: label)
                try session.tryOut(pair.privateKey, publicKey, name: label)
                return KeptKey(publicKey: publicKey, handle: handle.encoded)
            } catch {
                try session.destroy(pair.privateKey)
                try session.destroy(pair.publicKey)
                throw error
            }
        }
    }

    /// Takes a key that is on the token already. It stays there when its record is removed.
    ///
    /// - Parameter uri: with `object` or `id`.
    /// - Throws: ``VaultError``, also ``TokenError/noKey(name:)``, ``TokenError/severalKeys(name:count:)``,
    ///   ``TokenError/keyExtractable(name:)``, ``TokenError/keyUnsuitable(name:reason:)``
    func adopt(_ uri: TokenURI) throws(VaultError) -> KeptKey {
        try token.perform(.user) { session throws(VaultError) in
            let name = uri.description
            guard uri.ofToken.fits(session.token) else { throw .token(.noToken(uri: uri.ofToken.description)) }
            let key = try session.key(uri, CKO_PRIVATE_KEY)
            try session.checkStaysInside(key, name: name)
            let publicKey = try session.publicKey(of: key, name: name)
            try session.tryOut(key, publicKey, name: name)
            let id = try session.attribute(CKA_ID, of: key) ?? []
            let label = try session.attribute(CKA_LABEL, of: key) ?? []
            guard id.count <= TokenURI.nameLimit, label.count <= TokenURI.nameLimit else {
                throw .token(.keyUnsuitable(name: name, reason: "its id or label is longer than 255 bytes"))
            }
            return KeptKey(
                publicKey: publicKey,
                handle: TokenKeyHandle(id: id, label: label, serial: session.token.serial, isOurs: false).encoded)
        }
    }

    public func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey {
        Signer(token: token, handle: try TokenKeyHandle(key.handle), publicKey: key.publicKey)
    }

    public func destroy(_ key: KeptKey, of vaultID: [UInt8]) throws(VaultError) {
        let handle = try TokenKeyHandle(key.handle)
        guard handle.isOurs, handle.label.starts(with: Self.prefix(vaultID).utf8) else { return }
        try token.perform(.writing) { session throws(VaultError) in
            for object in try session.pair(handle) { try session.destroy(object) }
        }
    }

    /// Finds keys with this vault's label that no record refers to.
    public func orphans(of vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey] {
        let prefix = Self.prefix(vaultID)
        var ids: Set<[UInt8]> = []
        for key in known { ids.insert(try TokenKeyHandle(key.handle).id) }
        return try token.perform(.user) { session throws(VaultError) in
            var orphans: [KeptKey] = []
            for object in try session.objects([TokenAttribute(CKA_CLASS, CKO_PUBLIC_KEY)]) {
                guard let label = try session.attribute(CKA_LABEL, of: object), label.starts(with: prefix.utf8),
                    label.count <= TokenURI.nameLimit, let id = try session.attribute(CKA_ID, of: object),
                    id.count == Self.idBytes, !ids.contains(id)
                else { continue }
                let handle = TokenKeyHandle(id: id, label: label, serial: session.token.serial, isOurs: true)
                orphans.append(
                    KeptKey(
                        publicKey: try session.publicKey(of: object, name: handle.name), handle: handle.encoded))
            }
            return orphans
        }
    }

    private struct Signer: ForeignKey {
        let token: Token
        let handle: TokenKeyHandle
        let publicKey: PublicKey

        func sign(_ digest: UnsignedDigest) throws -> [UInt8] {
            try token.perform(.user) { session throws(VaultError) in
                try session.signature(of: digest, by: try session.privateKey(handle), publicKey)
            }
        }
    }
}
