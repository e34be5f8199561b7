import Cryptography
import Groundwork

/// The identifier of this installation at one gateway: lower-case hex SHA-256 of the public key of a key pair used only
/// for this (MAG 4.2). It stays the same until the device is removed or the local data reset; then it changes with the
/// new key.
enum DeviceIdentifier {
    static func text(of key: PrivateKey) -> String { Hex.encode(key.publicKey.spkiSHA256) }

    /// The value of the header `device-id`.
    static func header(_ identifier: String) -> String { Base64.encode(identifier.utf8) }
}
