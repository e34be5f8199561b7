import FoundationEssentials
import Groundwork
import HTTPClient
import MPin
import Vault

/// The board's accounts at M-Pin back ends, with the users of each that are not stored yet.
actor MPinAccounts {
    private nonisolated let backends: MPinBackends
    private var opened: [String: MPinAccount] = [:]

    init(vault: Vault, client: HTTPClient, clock: @escaping @Sendable () -> Date) {
        backends = MPinBackends(vault: vault, client: client, clock: clock)
    }

    /// The names, sorted.
    nonisolated func names() async throws -> [String] { try await backends.names() }

    /// - Returns: `nil` if there is no such account.
    /// - Throws: `MPinError`
    func account(_ name: String) async throws -> MPinAccount? {
        guard let backend = try await backends.backend(name) else { return nil }
        // One that was removed and made again has another back end.
        if let account = opened[name], account.backend === backend { return account }
        let account = MPinAccount(backend)
        opened[name] = account
        return account
    }

    /// Asks whether a back end answers; nothing is kept.
    ///
    /// - Returns: its settings, as texts.
    /// - Throws: `MPinError`
    nonisolated func test(_ configuration: MPinConfiguration) async throws -> [String: String] {
        try await backends.testBackend(configuration)
    }

    /// What the address in a scanned code says of its service.
    ///
    /// - Throws: `MPinError`
    nonisolated func service(at code: String, as configuration: MPinConfiguration) async throws -> MPinServiceDetails {
        try await backends.serviceDetails(at: code, as: configuration)
    }

    /// Makes an account at a back end that answers.
    ///
    /// The caller must make sure that there is no account of that name, and must not call it twice at a time.
    nonisolated func add(_ name: String, _ configuration: MPinConfiguration) async throws {
        _ = try await backends.add(name, configuration)
    }

    /// Removes an account with its users and their tokens. The back end is not asked.
    func remove(_ name: String) async throws {
        opened[name] = nil
        try await backends.remove(name)
    }
}
