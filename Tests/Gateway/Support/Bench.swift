import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import Synchronization
import Vault

@testable import Gateway

/// A board with a vault of its own, and a lab gateway without a broker.
struct Bench: Sendable {
    let lab: Lab
    let vault: Vault
    let time = TestTime()
    let client = HTTPClient()
    let configuration: GatewayConfiguration

    /// A session as a start of the agent makes one.
    func session(
        _ configuration: GatewayConfiguration? = nil, hosts: [HostSecurity] = [],
        options: SessionOptions = SessionOptions(), clock: (@Sendable () -> Date)? = nil
    ) -> GatewaySession {
        GatewaySession(
            configuration: configuration ?? self.configuration, vault: vault, client: client,
            board: DeviceDescription(name: "bench", model: "Test Board"), hosts: HostList(hosts),
            options: options, clock: clock ?? time.clock, uptime: time.uptime)
    }

    /// A session after a person enrolled the board here again.
    func sessionEnrolledAgain() async throws -> GatewaySession {
        try await Gateways(vault: vault).activate(configuration)
        return session()
    }

    /// The lab's configuration with what a test changes in the document.
    func configuration(_ change: (inout [String: Any]) -> Void) throws -> GatewayConfiguration {
        var members = try JSONSerialization.jsonObject(with: Data(configuration.bytes)) as? [String: Any] ?? [:]
        change(&members)
        return try GatewayConfiguration(parsing: Array(try JSONSerialization.data(withJSONObject: members)))
    }

    func count(_ endpoint: GatewayLab.Endpoint) -> Int { lab.requestCounts[endpoint] ?? 0 }

    /// Delays the next answer of an endpoint. The task ends once a request waits for it, or the lab stops.
    func delayNext(_ endpoint: GatewayLab.Endpoint, milliseconds: Int) -> Task<Void, Never> {
        lab.inject(Fault(.delay(milliseconds: milliseconds), at: endpoint, times: 1))
        // From here on: that it was set is an event of its own.
        let events = lab.events.subscribe()
        return Task { _ = await events.first { $0.kind == .fault && $0.endpoint == endpoint } }
    }

    /// The names of the records of the gateway.
    func records() async throws -> Set<String> {
        Set(try await vault.names(scope: configuration.identity.scope).map(\.name))
    }
}

/// Runs a test with a lab and a vault, and removes both.
///
/// Suites that use it are serialized: each test makes RSA keys, and all of them at once on two processors would each
/// take as long as all together, which no time limit of a single test could tell from a hang.
func withBench(
    _ change: (inout LabConfiguration) -> Void = { _ in }, _ test: (Bench) async throws -> Void
) async throws {
    var settings = LabConfiguration()
    settings.broker = false
    change(&settings)
    let lab = try await Lab.start(settings)
    let outcome: Result<Void, any Error>
    do {
        let configuration = try GatewayConfiguration(parsing: try await lab.configurationDocument())
        outcome = .success(
            try await withVault { vault in
                lab.resetCounts()
                try await test(Bench(lab: lab, vault: vault, configuration: configuration))
            })
    } catch {
        outcome = .failure(error)
    }
    await lab.stop()
    try outcome.get()
}

/// Runs a test with a second board at the same lab, with a vault of its own.
func withSecondBoard(at bench: Bench, _ test: (Bench) async throws -> Void) async throws {
    try await withVault { vault in
        try await test(Bench(lab: bench.lab, vault: vault, configuration: bench.configuration))
    }
}

private func withVault(_ test: (Vault) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-gateway-\(UUID())").path
    try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let outcome: Result<Void, any Error>
    do {
        let vault = try await Vault.open(
            at: directory + "/vault.db", with: [DevelopmentKeyFile(directory + "/vault.key")], creating: true)
        outcome = .success(try await test(vault))
        await vault.close()
    } catch {
        outcome = .failure(error)
    }
    try? FileManager.default.removeItem(atPath: directory)
    try outcome.get()
}

/// Two clocks that a test moves.
final class TestTime: Sendable {
    private let wall = Mutex<TimeInterval>(0)
    private let monotonic = Mutex(Duration.zero)

    /// Moves the wall clock alone, as setting it does.
    func set(by seconds: TimeInterval) { wall.withLock { $0 += seconds } }

    func pass(_ seconds: TimeInterval) {
        set(by: seconds)
        monotonic.withLock { $0 += .seconds(seconds) }
    }

    var clock: @Sendable () -> Date { { Date() + self.wall.withLock { $0 } } }
    var uptime: @Sendable () -> Duration {
        { GatewaySession.systemUptime() + self.monotonic.withLock { $0 } }
    }
}

/// Every event since it was made, in order.
final class EventLog: Sendable {
    private let stream: AsyncStream<GatewayEvent>
    private let source: Broadcast<GatewayEvent>

    init(_ source: Broadcast<GatewayEvent>) {
        self.source = source
        stream = source.subscribe()
    }

    /// Ends the source and gives what it sent.
    func all() async -> [GatewayEvent] {
        source.finish()
        var events: [GatewayEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    /// Without the room's.
    func names() async -> [String] { await all().map { String($0.report.name.dropFirst("gateway.".count)) } }
}

/// The error something fails with, if it does and if it is ours.
func failure(_ work: () async throws -> some Any) async -> GatewayError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? GatewayError
    }
}
