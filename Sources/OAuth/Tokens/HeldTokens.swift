import Cryptography

/// The tokens that a token endpoint has issued to one holder: a client, or one of its users.
public struct HeldTokens: Sendable, Equatable {
    public var access: HeldToken?
    public var refresh: SecretBytes?
    public var id: HeldIDToken?

    public init(access: HeldToken? = nil, refresh: SecretBytes? = nil, id: HeldIDToken? = nil) {
        self.access = access
        self.refresh = refresh
        self.id = id
    }

    public var isEmpty: Bool { access == nil && refresh == nil && id == nil }
}
