import Cryptography
import Foundation
import Groundwork
import Logging
import Synchronization

/// A gateway for development and tests: the server side of the gateway protocol on real sockets with real TLS, and a
/// Mosquitto that knows its tokens.
///
///     let lab = try await Lab.start()
///     let url = try await lab.mintEnrollmentURL()
///     // … enroll a board …
///     await lab.stop()
public final class Lab: Sendable {
    public let configuration: LabConfiguration
    /// Of the lab's CA, which certifies its servers and its devices.
    public let caCertificate: Certificate
    /// Where the gateway listens.
    public let port: Int
    /// `nil` without a broker.
    public let brokerPort: Int?
    let authority: Authority
    let desk: GatewayDesk
    let clock: LabClock
    let journal: Journal
    let faults: FaultSwitchboard
    let machinery: Machinery
    let token: AdminToken
    private let admin = Mutex<HTTPListener?>(nil)

    /// Listens when it returns; with a broker, the broker accepts connections too.
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
            configuration.users = try OwnPasswords(keeper: keeper).replacing(in: configuration.users)
        }
        let keys = try keeper?.authorityKeys(now: clock.now) ?? AuthorityKeys.generate(now: clock.now, keeping: false)
        let authority = try Authority(keys: keys, host: configuration.host, now: clock.now)
        let core = GatewayCore(
            configuration: configuration, authority: authority, state: try keeper?.load() ?? LabState())
        let desk = GatewayDesk(core: core, keeper: keeper, clock: clock)
        let (faults, journal) = (FaultSwitchboard(), Journal())
        let machinery = Machinery(
            configuration: configuration, authority: authority, desk: desk, faults: faults, journal: journal,
            clock: clock, logger: logger)
        do {
            let brokerPort = configuration.broker ? try await machinery.startBroker() : nil
            let port = try await machinery.openGateway()
            try await desk.change { core in
                core.port = port
                core.brokerPort = brokerPort
            }
            let lab = Lab(
                configuration: configuration, authority: authority, desk: desk, clock: clock, journal: journal,
                faults: faults, machinery: machinery, token: try AdminToken(), port: port, brokerPort: brokerPort)
            try await lab.openAdmin(logger: logger)
            return lab
        } catch {
            await machinery.stop()
            throw error
        }
    }

    private init(
        configuration: LabConfiguration, authority: Authority, desk: GatewayDesk, clock: LabClock, journal: Journal,
        faults: FaultSwitchboard, machinery: Machinery, token: AdminToken, port: Int, brokerPort: Int?
    ) {
        self.configuration = configuration
        self.authority = authority
        self.desk = desk
        self.clock = clock
        self.journal = journal
        self.faults = faults
        self.machinery = machinery
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
    /// `https://host:port`, and `/prefix` where there is one.
    public var baseURL: String { GatewayCore.baseURL(configuration, port: port) }
    public var adminPort: Int { admin.withLock { $0?.port ?? 0 } }
    public var adminURL: String { "http://127.0.0.1:\(adminPort)" }
    /// What the admin API asks for as `Authorization: Bearer`; also in `admin.token` of the data directory.
    public var adminToken: String { token.text }
    /// The admin page with the token. In the fragment, which a browser sends to nobody.
    public var adminPageURL: String { "\(adminURL)/#\(adminToken)" }

    /// Closes everything. A lab started later with the same data directory goes on where this one ended.
    public func stop() async {
        let listener = admin.withLock { admin in
            defer { admin = nil }
            return admin
        }
        journal.finish()
        await listener?.stop()
        await machinery.stop()
    }
}
