import Cryptography
import Groundwork
import Vault

/// Encrypts values of items with passwords, on ``NamedThread/keys``: deriving a key takes up to a second.
actor ItemPasswords {
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.keys.asUnownedSerialExecutor() }

    /// 16 MiB of memory during one derivation. The items lie sealed in the vault already.
    private static let cost = ScryptCost(n: 1 << 14, r: 8, p: 1)
    private static let saltBytes = 16

    func seal(
        _ value: [UInt8], as name: RecordName, with password: SecretBytes
    ) throws -> (salt: [UInt8], sealed: [UInt8]) {
        let salt = try Random.bytes(Self.saltBytes)
        let key = try KeyDerivation.scrypt(passphrase: password, salt: salt, cost: Self.cost, count: AESGCM.keyBytes)
        return (salt, try AESGCM.seal(SecretBytes(value), key: key, authenticating: Self.label(of: name)))
    }

    /// - Returns: `nil` if the password is not the one it was sealed with.
    func open(
        _ sealed: [UInt8], as name: RecordName, salt: [UInt8], with password: SecretBytes
    ) throws -> [UInt8]? {
        guard password.count > 0 else { throw ItemError.passwordMissing }
        let key = try KeyDerivation.scrypt(passphrase: password, salt: salt, cost: Self.cost, count: AESGCM.keyBytes)
        // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
        do throws(any Error) {
            return try AESGCM.open(sealed, key: key, authenticating: Self.label(of: name)).exposed()
        } catch CryptographyError.notAuthentic {
            return nil
        }
    }

    /// Binds a value to its place: no name contains a line feed.
    private static func label(of name: RecordName) -> [UInt8] {
        Array("latchkey item 1\n\(name.scope)\n\(name.name)".utf8)
    }
}
