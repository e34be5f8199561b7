import Cryptography
import Groundwork
import Vault

/// The gateways this board has been enrolled at, and which of them is active (MAG 1.2).
///
/// All are kept: switching back finds the registration that was made there. A switch deletes nothing.
public actor Gateways {
    public nonisolated let events = Broadcast<GatewayEvent>()

    private let vault: Vault
    private static let active = RecordName(scope: "", name: "active-gateway")
    private static let configurationName = "configuration"

    public init(vault: Vault) { self.vault = vault }

    /// The configuration activated last; `nil` on a board that was never enrolled.
    ///
    /// - Throws: ``GatewayError`` when the stored document is not valid any more, or what the vault throws.
    public func active() async throws -> GatewayConfiguration? {
        guard let identity = try await activeIdentity() else { return nil }
        return try await configuration(of: identity)
    }

    /// The configuration of a gateway this board knows.
    public func configuration(of identity: GatewayIdentity) async throws -> GatewayConfiguration? {
        guard let record = try await vault.record(Self.record(identity)) else { return nil }
        return try GatewayConfiguration(parsing: record.content.exposed(), source: "the vault")
    }

    /// Every gateway this board knows, in the order of their names.
    public func known() async throws -> [GatewayIdentity] {
        var identities: [GatewayIdentity] = []
        for scope in try await vault.scopes() {
            guard let identity = GatewayIdentity(scope: scope),
                try await vault.names(scope: scope).contains(Self.record(identity))
            else { continue }
            identities.append(identity)
        }
        return identities
    }

    /// Makes a configuration the active one and keeps it, in one commit.
    ///
    /// Events tell of a switch when it is for another gateway than the one before. A person who activates a configuration
    /// wants the board there, so that a session made after this registers also where the device had been removed.
    ///
    /// - Returns: the gateway that was active before, when it is another.
    @discardableResult
    public func activate(_ configuration: GatewayConfiguration) async throws -> GatewayIdentity? {
        let previous = try await activeIdentity()
        let identity = configuration.identity
        let isSwitch = previous != identity
        if isSwitch { events.send(.willSwitchGateway(from: previous, to: identity)) }
        killPoint("switch-begun")
        try await vault.commit([
            .put(Self.record(identity), .configuration, SecretBytes(configuration.bytes)),
            .put(Self.active, .configuration, SecretBytes(utf8: identity.scope)),
            .remove(RecordName(scope: identity.scope, name: HoldingsRecord.rest.rawValue)),
        ])
        killPoint("switch-committed")
        if isSwitch { events.send(.didSwitchGateway(from: previous, to: identity)) }
        return isSwitch ? previous : nil
    }

    private func activeIdentity() async throws -> GatewayIdentity? {
        guard let record = try await vault.record(Self.active) else { return nil }
        return GatewayIdentity(scope: record.content.exposedText())
    }

    private static func record(_ identity: GatewayIdentity) -> RecordName {
        RecordName(scope: identity.scope, name: configurationName)
    }
}
