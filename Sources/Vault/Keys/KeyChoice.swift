import Cryptography

/// Where the keys of a board are made from now on, and their kind. It says nothing of keys that are there.
public struct KeyChoice: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case rsa
        /// ECDSA on the curve P-256.
        case p256
    }

    public var keeper: KeyReference.Keeper
    public var kind: Kind

    public init(keeper: KeyReference.Keeper = .software, kind: Kind = .rsa) {
        self.keeper = keeper
        self.kind = kind
    }

    /// - Parameter rsaBits: the size of an RSA key.
    public func algorithm(rsaBits: Int) -> PrivateKey.Algorithm {
        switch kind {
        case .rsa: .rsa(bits: rsaBits)
        case .p256: .p256
        }
    }
}
