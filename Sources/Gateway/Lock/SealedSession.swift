import Cryptography
import Groundwork
import Vault

/// A session sealed with a key that only a passcode gives: the *secure id_token* of MAG 12.3.
struct SealedSession: Sendable, Equatable {
    private static let saltBytes = 16

    let cost: ScryptCost
    let salt: [UInt8]
    let bytes: [UInt8]

    init(cost: ScryptCost, salt: [UInt8], bytes: [UInt8]) { (self.cost, self.salt, self.bytes) = (cost, salt, bytes) }

    /// - Parameter label: authenticated with it, so that it opens only where it belongs.
    /// - Throws: `CryptographyError`
    init(sealing content: SecretBytes, with passcode: Passcode, label: String) throws {
        cost = Passphrase.usualCost
        salt = try Random.bytes(Self.saltBytes)
        let key = try Self.key(passcode, salt, cost)
        bytes = try AESGCM.seal(content, key: key, authenticating: Array(label.utf8))
    }

    /// - Returns: `nil` if the passcode is wrong.
    /// - Throws: `CryptographyError`
    func open(with passcode: Passcode, label: String) throws -> SecretBytes? {
        let key = try Self.key(passcode, salt, cost)
        // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
        do throws(any Error) {
            return try AESGCM.open(bytes, key: key, authenticating: Array(label.utf8))
        } catch CryptographyError.notAuthentic {
            return nil
        }
    }

    private static func key(_ passcode: Passcode, _ salt: [UInt8], _ cost: ScryptCost) throws -> SecretBytes {
        try KeyDerivation.scrypt(passphrase: passcode.secret, salt: salt, cost: cost, count: AESGCM.keyBytes)
    }
}

/// Seals and opens sessions on ``NamedThread/keys``: deriving a key takes up to a second.
actor SessionSealer {
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.keys.asUnownedSerialExecutor() }

    func seal(_ content: SecretBytes, with passcode: Passcode, label: String) throws -> SealedSession {
        try SealedSession(sealing: content, with: passcode, label: label)
    }

    func open(_ sealed: SealedSession, with passcode: Passcode, label: String) throws -> SecretBytes? {
        try sealed.open(with: passcode, label: label)
    }
}
