import Cryptography
import Groundwork
import Vault

/// The gateways at which this board was enrolled, and the account at each (MAG 1.2).
///
/// An account is a name for the relation of the board to one server. Without a name the default account is used; its
/// gateway is the active one. All gateways are kept: a switch deletes nothing, and switching back finds the earlier
/// registration.
public actor Gateways {
    /// Events of the default account.
    public nonisolated let events = Broadcast<GatewayEvent>()

    let vault: Vault
    /// The kind of server that these accounts are at, as their records name it.
    public static let kind = "gateway"
    /// The name of the default account.
    public static let defaultAccount = "gateway"
    /// The record with the scope of the default account's gateway.
    private static let active = RecordName(scope: "", name: "active-gateway")
    private static let configurationName = "configuration"

    public init(vault: Vault) { self.vault = vault }

    /// The configuration of an account; `nil` if there is no such account.
    ///
    /// - Throws: ``GatewayError`` when the stored document is no longer valid, or what the vault throws.
    public func active(account: String = defaultAccount) async throws -> GatewayConfiguration? {
        guard let identity = try await identity(of: account) else { return nil }
        return try await configuration(of: identity)
    }

    /// The configuration of a gateway this board knows.
    public func configuration(of identity: GatewayIdentity) async throws -> GatewayConfiguration? {
        guard let record = try await vault.record(Self.configuration(identity)) else { return nil }
        return try GatewayConfiguration(parsing: record.content.exposed(), source: "the vault")
    }

    /// Every gateway this board knows, ordered by name.
    public func known() async throws -> [GatewayIdentity] {
        var identities: [GatewayIdentity] = []
        for scope in try await vault.scopes() {
            guard let identity = GatewayIdentity(scope: scope),
                try await vault.names(scope: scope).contains(Self.configuration(identity))
            else { continue }
            identities.append(identity)
        }
        return identities
    }

    /// The gateway of each account, by the account's name.
    public func accounts() async throws -> [String: GatewayIdentity] {
        var accounts: [String: GatewayIdentity] = [:]
        accounts[Self.defaultAccount] = try await identity(of: Self.defaultAccount)
        for name in try await vault.names(scope: "").compactMap(AccountEntries.account) {
            accounts[name] = try await identity(of: name)
        }
        return accounts
    }

    /// Stores a configuration and makes it the account's, in one commit.
    ///
    /// Events report a switch to another gateway. A person who activates a configuration wants the board there, so a
    /// session created afterwards registers even if the device had been removed, and is not stopped.
    ///
    /// - Parameters:
    ///   - account: its name, in printable ASCII.
    ///   - registers: `false` makes an unregistered board wait until a person logs in on it or registers it, instead
    ///     of registering by itself. Does not affect a registered one.
    ///   - document: the hash of the default document that the configuration comes from; kept with it.
    ///   - more: what else is stored in that commit.
    /// - Returns: the account's previous gateway, if it was a different one.
    @discardableResult
    public func activate(
        _ configuration: GatewayConfiguration, as account: String = defaultAccount, registers: Bool = true,
        byDocument document: [UInt8]? = nil, alsoStoring more: [Change] = []
    ) async throws -> GatewayIdentity? {
        let previous = try await identity(of: account)
        let identity = configuration.identity
        let isSwitch = previous != identity
        let isDefault = account == Self.defaultAccount
        if isSwitch, isDefault { events.send(.willSwitchGateway(from: previous, to: identity)) }
        killPoint("switch-begun")
        var changes: [Change] = [
            .put(Self.configuration(identity), .configuration, SecretBytes(configuration.bytes)),
            .put(Self.record(of: account), .configuration, Self.content(account, at: identity)),
            HoldingsDocument.change(ofRest: registers ? nil : .byPerson, in: identity.scope),
            .remove(Self.stopped(identity)),
        ]
        if let document { changes.append(.put(Self.defaultDocument, .state, SecretBytes(document))) }
        try await vault.commit(changes + more, counting: isSwitch)
        killPoint("switch-committed")
        if isSwitch, isDefault { events.send(.didSwitchGateway(from: previous, to: identity)) }
        return isSwitch ? previous : nil
    }

    /// Removes an account, its gateway's configuration and all other data of that gateway, in one commit.
    ///
    /// Everything that uses the account must have ended.
    ///
    /// - Parameter more: what else is stored in that commit.
    public func remove(account: String, alsoStoring more: [Change] = []) async throws {
        let scope = try await identity(of: account)?.scope
        var changes = [Change.remove(Self.record(of: account))]
        if let scope { changes += try await vault.names(scope: scope).map(Change.remove) }
        killPoint("account-removal-begun")
        try await vault.commit(changes + more, counting: true)
        killPoint("account-removal-committed")
    }

    private func identity(of account: String) async throws -> GatewayIdentity? {
        guard let record = try await vault.record(Self.record(of: account)) else { return nil }
        guard account != Self.defaultAccount else { return GatewayIdentity(scope: record.content.exposedText()) }
        guard let content = try? JSON(parsing: record.content.exposed()), content["kind"]?.string == Self.kind else {
            return nil
        }
        return content["scope"]?.string.flatMap(GatewayIdentity.init(scope:))
    }

    private static func content(_ account: String, at identity: GatewayIdentity) -> SecretBytes {
        guard account != defaultAccount else { return SecretBytes(utf8: identity.scope) }
        return SecretBytes(JSON.object(["kind": .string(kind), "scope": .string(identity.scope)]).bytes)
    }

    private static func record(of account: String) -> RecordName {
        account == defaultAccount ? active : AccountEntries.record(of: account)
    }

    private static func configuration(_ identity: GatewayIdentity) -> RecordName {
        RecordName(scope: identity.scope, name: configurationName)
    }
}
