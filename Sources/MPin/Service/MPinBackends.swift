import Cryptography
public import FoundationEssentials
import Groundwork
public import HTTPClient
public import Vault

/// The board's accounts at M-Pin back ends: made, found and removed by name.
public actor MPinBackends {
    /// What the record of an account's name says of its kind.
    public static let kind = "mpin"
    private static let configurationName = "configuration"

    private let vault: Vault
    private let client: HTTPClient
    private let clock: @Sendable () -> Date
    private let opened = OpenedOnce<MPinAccount>()

    public init(vault: Vault, client: HTTPClient, clock: @escaping @Sendable () -> Date) {
        self.vault = vault
        self.client = client
        self.clock = clock
    }

    static func scope(of account: String) -> String { "account/" + account }

    private static func configuration(_ account: String) -> RecordName {
        RecordName(scope: scope(of: account), name: configurationName)
    }

    /// The names of the accounts, sorted.
    public func names() async throws -> [String] {
        try await stored { try await vault.accounts(ofKind: Self.kind) }
    }

    /// An account with what is stored of it.
    ///
    /// - Returns: `nil` if there is no such account.
    /// - Throws: ``MPinError/recordInvalid(account:)``, ``MPinError/storage(_:)``
    public func account(_ name: String) async throws -> MPinAccount? {
        try await opened.value(name) { try await open(name) }
    }

    /// The back end of an account.
    public func backend(_ name: String) async throws -> MPinBackend? { try await account(name)?.backend }

    private func open(_ name: String) async throws -> MPinAccount? {
        guard let record = try await stored({ try await vault.record(Self.configuration(name)) }) else { return nil }
        guard let document = try? JSON(parsing: record.content.exposed()),
            let configuration = try? MPinConfiguration(document)
        else { throw MPinError.recordInvalid(account: name) }
        let backend = made(name, configuration)
        try await backend.open()
        return MPinAccount(backend)
    }

    private func made(_ name: String, _ configuration: MPinConfiguration) -> MPinBackend {
        MPinBackend(
            name: name, configuration: configuration, vault: vault, scope: Self.scope(of: name), client: client,
            clock: clock)
    }

    /// Makes an account, once the back end has answered.
    ///
    /// The caller must make sure that there is no account of that name, and must not call it twice at a time.
    ///
    /// - Throws: ``MPinError``; there is no such account then.
    public func add(_ name: String, _ configuration: MPinConfiguration) async throws -> MPinBackend {
        try configuration.check()
        let backend = made(name, configuration)
        try await backend.prepare()
        killPoint("mpin-account-answered")
        let content: JSON = ["kind": .string(Self.kind), "scope": .string(Self.scope(of: name))]
        try await stored {
            try await vault.commit([
                .put(Self.configuration(name), .configuration, SecretBytes(configuration.document.bytes)),
                .put(AccountEntries.record(of: name), .configuration, SecretBytes(content.bytes)),
            ])
        }
        killPoint("mpin-account-committed")
        opened.keep(MPinAccount(backend), name)
        return backend
    }

    /// Removes an account with all its users, even if it cannot be read. The back end is not asked.
    public func remove(_ name: String) async throws {
        try await opened.remove(name) { account in
            await account.backend.close()
        } erasing: {
            killPoint("mpin-removal-begun")
            try await stored {
                let records = try await vault.names(scope: Self.scope(of: name)).map(Change.remove)
                try await vault.commit(records + [.remove(AccountEntries.record(of: name))])
            }
            killPoint("mpin-removal-committed")
        }
    }

    /// Checks that a back end answers as one. Nothing is kept.
    ///
    /// - Returns: its settings as texts, as programs read them (MPIN 5.4).
    /// - Throws: ``MPinError``
    @discardableResult
    public func testBackend(_ configuration: MPinConfiguration) async throws -> [String: String] {
        try configuration.check()
        return try await MPinBackend.settings(exchange(configuration)).texts
    }

    /// What the address in a scanned code says of its service (MPIN 5.3).
    ///
    /// - Parameters:
    ///   - code: an address; from a `#` on it is not sent.
    ///   - configuration: headers, client id and authorities of the request; its address is not used.
    /// - Throws: ``MPinError``
    public func serviceDetails(
        at code: String, as configuration: MPinConfiguration? = nil
    ) async throws -> MPinServiceDetails {
        var own = MPinConfiguration(url: String(code.prefix { $0 != "#" }))
        if let configuration {
            (own.headers, own.clientID) = (configuration.headers, configuration.clientID)
            own.authorities = configuration.authorities
        }
        try own.check()
        return try MPinServiceDetails(
            try await exchange(own).answer(.init(.serviceDetails, "GET", own.url + "/service")))
    }

    private func exchange(_ configuration: MPinConfiguration) -> MPinExchange {
        MPinExchange(client: client, configuration: configuration, clock: clock)
    }

    /// Has the vault's errors be those of M-Pin.
    private func stored<Value: Sendable>(_ access: () async throws -> Value) async throws -> Value {
        do {
            return try await access()
        } catch let error as VaultError {
            throw MPinError.storage(error)
        }
    }
}
