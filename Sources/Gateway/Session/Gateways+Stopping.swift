import Cryptography
import Vault

/// Accounts that a person has stopped, and the default document.
extension Gateways {
    /// Whether a person has stopped what talks to this gateway.
    public func isStopped(at identity: GatewayIdentity) async throws -> Bool {
        try await vault.names(scope: identity.scope).contains(Self.stopped(identity))
    }

    /// Keeps whether what talks to a gateway is stopped, also across restarts. Does not stop anything.
    public func setStopped(_ isStopped: Bool, at identity: GatewayIdentity) async throws {
        let name = Self.stopped(identity)
        try await vault.commit([isStopped ? .put(name, .state, SecretBytes(utf8: "true")) : .remove(name)])
    }

    /// Whether the board has a registration at a gateway that it knows.
    public func isRegistered(at identity: GatewayIdentity) async throws -> Bool {
        try await vault.names(scope: identity.scope).contains { $0.name == HoldingsDocument.device.rawValue }
    }

    /// The hash of the default document that was taken last; `nil` if none was.
    public func takenDocument() async throws -> [UInt8]? {
        try await vault.record(Self.defaultDocument)?.content.exposed()
    }

    static func stopped(_ identity: GatewayIdentity) -> RecordName {
        RecordName(scope: identity.scope, name: "stopped")
    }
    static let defaultDocument = RecordName(scope: "", name: "default-document")
}
