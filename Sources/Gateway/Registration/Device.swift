import Cryptography
import FoundationEssentials

/// A registration as the gateway granted it.
struct Device: Sendable, Equatable {
    let key: PrivateKey
    /// Leaf first, never empty.
    var chain: [Certificate]
    let magIdentifier: String
    /// `false` while an administrator has yet to activate it.
    var isActive: Bool
    let registeredAt: Date
    /// When the certificate in use was obtained by renewal; `nil` for the one of the registration.
    var renewedAt: Date?

    var leaf: Certificate { chain[0] }
    var identity: TLSIdentity { TLSIdentity(key: key, chain: chain) }

    static func == (one: Device, other: Device) -> Bool {
        one.key.publicKey == other.key.publicKey && one.chain == other.chain && one.magIdentifier == other.magIdentifier
            && one.isActive == other.isActive && one.registeredAt == other.registeredAt
            && one.renewedAt == other.renewedAt
    }
}
