public import FoundationEssentials
import Groundwork
public import HTTPClient
public import Vault

/// The board's account at one M-Pin back end: its users, their registration and their logins (MPIN 6).
///
/// A user proves a PIN that is stored nowhere: neither here nor at the back end. One operation runs at a time. What a
/// registration has changed is in the vault before its operation returns; a failed one leaves the user as it was.
public actor MPinBackend {
    public nonisolated let name: String
    /// The back end's address without its scheme (MPIN 6).
    public nonisolated let key: String
    nonisolated let store: UserStore
    nonisolated let clock: @Sendable () -> Date
    private nonisolated let flights = SingleFlight<Int>()

    public nonisolated let configuration: MPinConfiguration
    nonisolated let exchange: MPinExchange
    var settings: ClientSettings?
    /// By their ids; `nil` until what is stored has been read.
    var held: [String: HeldMPinUser]?
    private var operations = 0

    /// - Parameters:
    ///   - name: the account's, for messages.
    ///   - configuration: checked.
    ///   - scope: of the account's records in the vault.
    public init(
        name: String, configuration: MPinConfiguration, vault: Vault, scope: String, client: HTTPClient,
        clock: @escaping @Sendable () -> Date
    ) {
        self.name = name
        self.configuration = configuration
        self.clock = clock
        key = configuration.key
        store = UserStore(vault: vault, scope: scope, account: name, key: configuration.key)
        exchange = MPinExchange(client: client, configuration: configuration, clock: clock)
    }

    // MARK: The back end

    /// Reads what is stored; once.
    ///
    /// - Throws: ``MPinError/recordInvalid(account:)``, which changes nothing in the vault, ``MPinError/storage(_:)``
    public func open() async throws {
        try await alone { try await $0.load() }
    }

    private func load() async throws {
        guard held == nil else { return }
        let stored = try await store.read()
        held = Dictionary(
            uniqueKeysWithValues: stored.entries.map { identity, entry in
                (
                    entry.id,
                    HeldMPinUser(
                        serial: HeldMPinUser.newSerial(), id: entry.id, identity: identity, state: entry.state,
                        deviceName: entry.deviceName, cachedPermit: entry.permit)
                )
            })
    }

    /// Fetches the back end's settings (MPIN 5.4). Those fetched before stay if it fails.
    ///
    /// - Throws: ``MPinError``, `CancellationError`
    public func connect() async throws {
        try await alone(endsWithCaller: true) { backend in
            try backend.requireOpen()
            try await backend.fetchSettings()
        }
    }

    /// What comes before everything else: ``open()``, and ``connect()`` unless that has succeeded before.
    public func prepare() async throws {
        try await alone(endsWithCaller: true) { backend in
            try await backend.load()
            if backend.settings == nil { try await backend.fetchSettings() }
        }
    }

    private func fetchSettings() async throws { settings = try await Self.settings(exchange) }

    /// The settings of the back end of an exchange's configuration.
    static func settings(_ exchange: MPinExchange) async throws -> ClientSettings {
        let configuration = exchange.configuration
        let answer = try await exchange.answer(.init(.clientSettings, "GET", configuration.settingsURL))
        return try ClientSettings(answer, of: configuration.url)
    }

    /// Whether the back end wants to know what this device is called.
    public var asksForDeviceName: Bool { settings?.asksForDeviceName ?? false }

    /// Ends what is in progress. Nothing is requested or stored afterwards.
    public func close() async { await flights.close() }

    // MARK: Operations

    /// Runs an operation when those before it have ended.
    ///
    /// - Parameter endsWithCaller: whether canceling the caller cancels the operation, and not only the wait for it.
    ///   One that uses up something at a server must not be canceled halfway.
    func alone<Value: Sendable>(
        endsWithCaller: Bool = false, _ work: @escaping @Sendable (isolated MPinBackend) async throws -> Value
    ) async throws -> Value {
        operations += 1
        let outcome = Outcome<Value>()
        try await flights.join(operations) { [self] _ in
            let value =
                endsWithCaller ? try await work(self) : try await Task { try await work(self) }.value
            outcome.keep(value)
        }
        guard let value = outcome.value else { throw CancellationError() }
        return value
    }

    /// - Throws: ``MPinError/stepMissing(step:)`` before ``open()``
    @discardableResult
    func requireOpen() throws(MPinError) -> [String: HeldMPinUser] {
        guard let held else { throw .stepMissing(step: "reading the stored data of the account") }
        return held
    }

    /// - Throws: ``MPinError/stepMissing(step:)`` before ``open()``, ``MPinError/notConnected`` before ``connect()``
    @discardableResult
    func connected() throws(MPinError) -> ClientSettings {
        try requireOpen()
        guard let settings else { throw .notConnected }
        return settings
    }

    /// An address of the settings.
    ///
    /// - Throws: ``MPinError/answerInvalid(place:reason:)`` if they have none
    func address(_ address: ClientSettings.Address) throws(MPinError) -> String {
        let text = address == .secondAuthority ? try connected().secondAuthority : try connected()[address]
        guard !text.isEmpty else {
            throw .answerInvalid(
                place: configuration.settingsURL, reason: "its \(address.rawValue) is missing or empty")
        }
        return text
    }
}
