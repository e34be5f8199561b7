import Cryptography
import Foundation
import Groundwork
import Logging
import Synchronization

/// A gateway for development and tests: the server side of the gateway protocol on real sockets with real TLS, and a
/// Mosquitto that checks its tokens.
///
///     let lab = try await Lab.start()
///     let url = try await lab.mintEnrollmentURL()
///     // … enroll a board …
///     await lab.stop()
public final class Lab: Sendable {
    public let configuration: LabConfiguration
    /// The certificate of the lab's CA, which issues those of its servers and devices.
    public let caCertificate: Certificate
    /// The port of the gateway.
    public let port: Int
    /// `nil` without a broker.
    public let brokerPort: Int?
    let authority: Authority
    let store: GatewayStore
    let clock: LabClock
    let journal: Journal
    let faults: FaultInjector
    let servers: LabServers
    let token: AdminToken
    private let admin = Mutex<HTTPListener?>(nil)

    /// Returns when the gateway, and the broker if there is one, accept connections.
    /// - Throws: ``LabError``
    public static func start(_ configuration: LabConfiguration = LabConfiguration()) async throws -> Lab {
        guard configuration.prefix.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        else {
            throw LabError.badPrefix(configuration.prefix)
        }
        var logger = Logger(label: "latchkey-lab")
        logger.logLevel = configuration.logLevel
        let clock = LabClock()
        let keeper = try configuration.dataDirectory.map(StateKeeper.init(directory:))
        var configuration = configuration
        if configuration.isReachableByOthers {
            configuration.users = try RandomPasswords(keeper: keeper).replacing(in: configuration.users)
        }
        let keys = try keeper?.authorityKeys(now: clock.now) ?? AuthorityKeys.generate(now: clock.now, keeping: false)
        let authority = try Authority(keys: keys, host: configuration.host, now: clock.now)
        let core = GatewayCore(
            configuration: configuration, authority: authority, state: try keeper?.load() ?? LabState())
        let store = GatewayStore(core: core, keeper: keeper, clock: clock)
        let (faults, journal) = (FaultInjector(), Journal())
        let servers = LabServers(
            configuration: configuration, authority: authority, store: store, faults: faults, journal: journal,
            clock: clock, logger: logger)
        do {
            let brokerPort = configuration.broker ? try await servers.startBroker() : nil
            let port = try await servers.openGateway()
            try await store.change { core in
                core.port = port
                core.brokerPort = brokerPort
            }
            let lab = Lab(
                configuration: configuration, authority: authority, store: store, clock: clock, journal: journal,
                faults: faults, servers: servers, token: try AdminToken(), port: port, brokerPort: brokerPort)
            try await lab.openAdmin(logger: logger)
            return lab
        } catch {
            await servers.stop()
            throw error
        }
    }

    private init(
        configuration: LabConfiguration, authority: Authority, store: GatewayStore, clock: LabClock, journal: Journal,
        faults: FaultInjector, servers: LabServers, token: AdminToken, port: Int, brokerPort: Int?
    ) {
        self.configuration = configuration
        self.authority = authority
        self.store = store
        self.clock = clock
        self.journal = journal
        self.faults = faults
        self.servers = servers
        self.token = token
        self.port = port
        self.brokerPort = brokerPort
        caCertificate = authority.certificate
    }

    private func openAdmin(logger: Logger) async throws {
        let opened = try await HTTPListener.start(
            AdminResponder(lab: self), address: "127.0.0.1", port: configuration.adminPort, tls: nil,
            connections: Connections(), logger: logger)
        admin.withLock { $0 = opened }
        if let directory = configuration.dataDirectory {
            try AdminTokenFile(dataDirectory: directory).write(token.text)
        }
    }

    public var caCertificatePEM: String { caCertificate.pem }
    /// `https://host:port`, followed by `/prefix` if there is one.
    public var baseURL: String { GatewayCore.baseURL(configuration, port: port) }
    public var adminPort: Int { admin.withLock { $0?.port ?? 0 } }
    public var adminURL: String { "http://127.0.0.1:\(adminPort)" }
    /// The token that the admin API expects in `Authorization: Bearer`; also in `admin.token` of the data directory.
    public var adminToken: String { token.text }
    /// The admin page with the token. It is in the fragment, which browsers do not send.
    public var adminPageURL: String { "\(adminURL)/#\(adminToken)" }

    /// Closes everything. A lab started later with the same data directory continues where this one ended.
    public func stop() async {
        let listener = admin.withLock { admin in
            defer { admin = nil }
            return admin
        }
        journal.finish()
        await listener?.stop()
        await servers.stop()
    }
}
