import Cryptography
import Groundwork

/// The identifier of this installation at one gateway: lower-case hex SHA-256 of the public key of a key pair made for nothing
/// else (gateway protocol 4.2). It stays until the device is removed or the local data reset; then a new key gives a new one.
enum DeviceIdentifier {
    static func text(of key: PrivateKey) -> String { Hex.encode(key.publicKey.spkiSHA256) }

    /// As it travels in `device-id`.
    static func header(_ identifier: String) -> String { Base64.encode(identifier.utf8) }
}

/// Makes keys on the storage thread: a large RSA key takes seconds on a small board, too long for the cooperative pool.
actor KeyMaker {
    static let shared = KeyMaker()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    func key(_ algorithm: PrivateKey.Algorithm) throws -> PrivateKey { try PrivateKey(generating: algorithm) }
}
