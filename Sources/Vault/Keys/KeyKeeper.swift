import Cryptography

/// A place outside of this process that makes private keys and signs with them, such as a TPM or a token.
///
/// A key never leaves it. What is needed to use a key again is sealed in the vault, as a ``KeptKey``.
public protocol KeyKeeper: Sendable {
    /// Makes a key. May take a minute: called on ``NamedThread/keys``.
    ///
    /// - Parameter name: of the key's reference, unique in its scope.
    func make(_ algorithm: PrivateKey.Algorithm, name: String) throws(VaultError) -> KeptKey

    /// What signs with a key. The place is not asked before the first signature, so that a store opens without it.
    func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey

    /// Removes what ``make(_:name:)`` left in the place; what is not there is no error. Called on ``NamedThread/keys``,
    /// after the commit that removed the key's record.
    func destroy(_ key: KeptKey) throws(VaultError)
}

/// A key of a ``KeyKeeper``, as the vault seals it.
public struct KeptKey: Sendable, Equatable {
    public let publicKey: PublicKey
    /// What its keeper needs to find it again: at most 4096 bytes.
    public let handle: SecretBytes

    public init(publicKey: PublicKey, handle: SecretBytes) {
        self.publicKey = publicKey
        self.handle = handle
    }
}
