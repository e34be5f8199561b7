import Cryptography
import FoundationEssentials
import Vault

/// A registration as the gateway granted it.
struct Device: Sendable, Equatable {
    let key: KeyReference
    /// Leaf first, never empty.
    var chain: [Certificate]
    let magIdentifier: String
    /// `false` until an administrator activates it.
    var isActive: Bool
    let registeredAt: Date
    /// When the certificate in use was obtained by renewal; `nil` if it is from the registration.
    var renewedAt: Date?
    /// A renewed chain that no connection has used successfully yet; empty when there is none.
    var renewedChain: [Certificate] = []

    var leaf: Certificate { chain[0] }

    /// Whether the certificate in use has ended.
    func hasEnded(at date: Date) -> Bool { leaf.notAfter <= date }
}
