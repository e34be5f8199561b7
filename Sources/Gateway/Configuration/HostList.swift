import Cryptography
import Groundwork
import Synchronization
public import Vault

/// The hosts that may be called beside the gateways (MAG 1.3): those of the settings file, and those that were added
/// while the agent ran, which the vault keeps.
///
/// One list serves all sessions; a change applies to the next call.
public final class HostList: Sendable {
    /// The most hosts.
    public static let limit = 32
    static let record = RecordName(scope: "", name: "hosts")

    /// Stores a change of the list.
    ///
    /// - Parameter endsTrust: whether a host that was there is gone then, or trusted in another way: what was allowed
    ///   there was allowed for what it was.
    public typealias Commit = (_ endsTrust: Bool, _ changes: [Change]) async throws -> Void

    /// Those of the settings, which only the settings can change.
    public let fixed: [HostSecurity]
    private let stored = Mutex<[HostSecurity]>([])
    private let change = AsyncMutex()

    public init(_ fixed: [HostSecurity] = []) { self.fixed = fixed }

    /// Those that were added, in order of their names.
    public var added: [HostSecurity] { stored.withLock { $0 } }

    var all: [HostSecurity] { fixed + added }

    /// Reads those that the vault keeps.
    ///
    /// - Throws: ``GatewayError/hostConfigurationInvalid(host:reason:)`` and the other errors of a configuration when
    ///   the record is not usable, what the vault throws.
    public func load(from vault: Vault) async throws {
        guard let record = try await vault.record(Self.record) else { return }
        guard let list = (try? JSON(parsing: record.content.exposed()))?.array else {
            throw GatewayError.hostConfigurationInvalid(host: "?", reason: "the stored list is not readable")
        }
        let hosts = try list.map(HostSecurity.init(json:))
        stored.withLock { $0 = hosts }
    }

    /// Adds a host, or replaces the configuration of one that was added before.
    ///
    /// - Throws: ``GatewayError/hostInSettings(name:)``, ``GatewayError/tooManyHosts(limit:)``, what `commit` throws
    public func add(_ host: HostSecurity, _ commit: Commit) async throws {
        try await update(commit) { hosts in
            guard !fixed.contains(where: { $0.name == host.name }) else {
                throw GatewayError.hostInSettings(name: host.name)
            }
            let former = hosts.first { $0.name == host.name }
            hosts.removeAll { $0.name == host.name }
            guard fixed.count + hosts.count < Self.limit else { throw GatewayError.tooManyHosts(limit: Self.limit) }
            hosts.append(host)
            hosts.sort { $0.name < $1.name }
            return former.map { !host.isTrusted(as: $0) } ?? false
        }
    }

    /// - Parameter name: `host:port`.
    /// - Throws: ``GatewayError/hostUnknown(name:)``, ``GatewayError/hostInSettings(name:)``, what `commit` throws
    public func remove(_ name: String, _ commit: Commit) async throws {
        try await update(commit) { hosts in
            guard !fixed.contains(where: { $0.name == name }) else { throw GatewayError.hostInSettings(name: name) }
            guard let index = hosts.firstIndex(where: { $0.name == name }) else {
                throw GatewayError.hostUnknown(name: name)
            }
            hosts.remove(at: index)
            return true
        }
    }

    /// One change at a time, stored before it applies.
    ///
    /// - Parameter body: changes the list, and says whether that ends the trust of a host.
    private func update(_ commit: Commit, _ body: (inout [HostSecurity]) throws -> Bool) async throws {
        await change.lock()
        defer { change.unlock() }
        var hosts = added
        let endsTrust = try body(&hosts)
        try await commit(
            endsTrust, [.put(Self.record, .configuration, SecretBytes(JSON.array(hosts.map(\.json)).bytes))])
        stored.withLock { $0 = hosts }
    }
}
