import Cryptography
import Groundwork

/// The identifier of this installation at one gateway: lower-case hex SHA-256 of the public key of a key pair made for nothing
/// else (MAG 4.2). It stays until the device is removed or the local data reset; then a new key gives a new one.
enum DeviceIdentifier {
    static func text(of key: PrivateKey) -> String { Hex.encode(key.publicKey.spkiSHA256) }

    /// As it travels in `device-id`.
    static func header(_ identifier: String) -> String { Base64.encode(identifier.utf8) }
}
