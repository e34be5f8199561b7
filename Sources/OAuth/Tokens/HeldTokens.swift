import Cryptography

/// What a token endpoint has given to one holder: a client, or a user of it.
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
