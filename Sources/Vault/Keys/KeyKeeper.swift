import Cryptography

/// A place outside of this process that makes private keys and signs with them, such as a TPM or a token.
///
/// A key never leaves it. What is needed to use a key again is sealed in the vault, as a ``KeptKey``.
public protocol KeyKeeper: Sendable {
    /// Whether each call of ``make(_:name:of:)`` gives another key.
    var makesNewKeys: Bool { get }

    /// Makes a key. May take a minute: called on ``NamedThread/keys``.
    ///
    /// - Parameters:
    ///   - name: of the key's reference, unique in its scope.
    ///   - vaultID: of the vault with its record.
    func make(_ algorithm: PrivateKey.Algorithm, name: String, of vaultID: [UInt8]) throws(VaultError) -> KeptKey

    /// What signs with a key. The place is not asked before the first signature, so that a store opens without it.
    func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey

    /// Removes what ``make(_:name:of:)`` left in the place, if it is this vault's; what is not there is no error.
    /// Called on ``NamedThread/keys``, after the commit that removed the key's record.
    func destroy(_ key: KeptKey, of vaultID: [UInt8]) throws(VaultError)

    /// Finds what a crash between making a key and its record has left in the place. Called on ``NamedThread/keys``,
    /// while no key is made.
    ///
    /// - Parameter known: all keys of the vault's records that are there.
    func orphans(of vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey]
}

extension KeyKeeper {
    public var makesNewKeys: Bool { true }
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
