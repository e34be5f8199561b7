import Cryptography
import Foundation
import Groundwork
import Logging

/// The running servers of a lab: the gateway's port and the broker.
actor LabServers {
    private let configuration: LabConfiguration
    private let authority: Authority
    private let store: GatewayStore
    private let faults: FaultInjector
    private let journal: Journal
    private let clock: LabClock
    private let logger: Logger
    /// Files of this run of the broker only: its configuration, keys and socket. Always in `/tmp`, because a Unix
    /// socket's path has at most 107 bytes.
    private var runFiles: StateKeeper?
    nonisolated let connections = Connections()
    /// The ports that were not chosen.
    private var held: [HeldPort] = []
    private var listener: HTTPListener?
    private var port: Int
    private(set) var face = ServerFace.genuine
    private(set) var broker: Broker?

    init(
        configuration: LabConfiguration, authority: Authority, store: GatewayStore, faults: FaultInjector,
        journal: Journal, clock: LabClock, logger: Logger
    ) {
        self.configuration = configuration
        self.authority = authority
        self.store = store
        self.faults = faults
        self.journal = journal
        self.clock = clock
        self.logger = logger
        port = configuration.port
    }

    /// Opens the gateway's port, the same one as before if it was open before.
    /// - Throws: ``LabError``
    func openGateway() async throws -> Int {
        guard listener == nil else { return port }
        if port == 0 { port = try hold() }
        let identity = try authority.identity(for: face, now: clock.now)
        let responder = GatewayResponder(store: store, faults: faults, journal: journal, prefix: configuration.prefix)
        let opened = try await HTTPListener.start(
            responder, address: configuration.listenAddress, port: port,
            tls: try ServerTLS.credentials(identity: identity, authority: authority.certificate),
            connections: connections, logger: logger)
        listener = opened
        return port
    }

    /// A port that stays the lab's until it stops.
    private func hold() throws -> Int {
        let port = try HeldPort(on: configuration.listenAddress)
        held.append(port)
        return port.number
    }

    func closeGateway() async {
        guard let open = listener else { return }
        listener = nil
        await open.stop()
    }

    func show(_ face: ServerFace) async throws {
        await closeGateway()
        self.face = face
        _ = try await openGateway()
    }

    /// Starts the broker, on the same port as before if it ran before.
    /// - Throws: ``LabError``
    func startBroker() async throws -> Int {
        if let broker {
            try await broker.start()
            return broker.port
        }
        let gate = BrokerGate(store: store, journal: journal)
        let files = try StateKeeper(directory: "/tmp/latchkey-lab-" + Hex.encode(Random.bytes(8)))
        runFiles = files
        let port = configuration.brokerPort == 0 ? try hold() : configuration.brokerPort
        let broker = try Broker(
            configuration: configuration, port: port, identity: authority.server, authority: authority.certificate,
            gate: gate, files: files, logger: logger)
        try await broker.start()
        self.broker = broker
        return port
    }

    func stop() async {
        await closeGateway()
        await broker?.stop()
        broker = nil
        held = []
        // Nothing in it is needed again; leftover files do no harm.
        if let runFiles { try? FileManager.default.removeItem(atPath: runFiles.directory) }
        runFiles = nil
    }
}
