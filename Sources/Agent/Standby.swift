import FoundationEssentials
import Groundwork
import LocalAPI
import Logging
import Storage
import Synchronization
import Vault

/// The agent while its vault cannot be opened for a reason that lies outside of it: a disk that is full, read-only or
/// failing, or a vault that a newer program wrote.
///
/// Nothing is damaged, so nothing is set aside or changed. `latchkey status` and `latchkey doctor` say what is wrong, and the
/// agent goes on by itself once the vault opens.
struct Standby {
    let configuration: AgentConfiguration
    let time: BestKnownTime
    let logger: Logger

    private let fault: Fault
    private let started = ContinuousClock.now

    /// Why the vault does not open, as the last attempt found it.
    private final class Fault: Sendable {
        private let state: Mutex<VaultError>
        init(_ error: VaultError) { state = Mutex(error) }
        var error: VaultError {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    init(_ configuration: AgentConfiguration, _ time: BestKnownTime, _ logger: Logger, after error: VaultError) {
        (self.configuration, self.time, self.logger) = (configuration, time, logger)
        fault = Fault(error)
    }

    /// Whether waiting may help; other errors are for whoever has set the agent up, who has to start it again.
    static func helps(against error: VaultError) -> Bool {
        switch error {
        case .newerVersion: true
        case .storage(.full), .storage(.readOnly), .storage(.inputOutput), .storage(.busy): true
        default: false
        }
    }

    /// Tells what is wrong, and tries again after a growing pause, until `open` succeeds.
    ///
    /// - Throws: what `open` throws when waiting does not help any more, or what the local API throws.
    func wait<Value>(for open: () async throws -> Value) async throws -> Value {
        logger.error("waiting: \(fault.error.message)\(fault.error.remedy.map { "; \($0)" } ?? "")")
        let server = LocalServer(
            socketPath: configuration.api.socket, policy: try AccessPolicy(configuration.api), router: router())
        try server.listen()
        let notifier = ServiceNotifier()
        notifier.ready("waiting: \(fault.error.message)")
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { await Watchdog(notifier: notifier) {}.run() }
            defer { group.cancelAll() }
            var backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
            while true {
                try await Task.sleep(for: backoff.next())
                do {
                    return try await open()
                } catch let error as VaultError where Self.helps(against: error) {
                    fault.error = error
                }
            }
        }
    }

    // MARK: What it answers

    private func router() -> Router {
        var router = Router()
        router.on("GET", "/v1/version", needs: .read, .versionOfAgent) { _ in
            .json(Version.report)
        }
        router.on("GET", "/v1/status", needs: .read, .init("Why the agent waits", answer: .status)) { _ in
            .json(report())
        }
        router.on(
            "GET", "/v1/doctor", needs: .read,
            .init(
                "The health checks that need no vault", answer: .diagnosis)
        ) { _ in .json(diagnosis()) }
        for (method, path, permission) in Self.closed {
            router.on(method, path, needs: permission, .init("Needs the vault", answer: .object([:]))) { _ in
                throw fault.error
            }
        }
        return router
    }

    /// What programs and people ask for most, so that they are told why it is not to be had.
    private static let closed: [(String, String, Permission)] = [
        ("POST", "/v1/messages", .publish), ("GET", "/v1/messages", .read), ("POST", "/v1/send", .publish),
        ("GET", "/v1/events", .read), ("POST", "/v1/enrollments", .operate), ("GET", "/v1/token", .operate),
        ("POST", "/v1/renew", .operate), ("POST", "/v1/deregister", .operate), ("POST", "/v1/reset", .operate),
        ("POST", "/v1/call", .operate), ("GET", "/v1/vault/slots", .operate),
    ]

    private func report() -> JSON {
        .object([
            "version": .string(Version.text), "time": .string(time.now.formatted(.iso8601)),
            "uptime": .integer((ContinuousClock.now - started).components.seconds),
            "vault": ["error": .object(fault.error.explanation)], "lastError": .object(fault.error.explanation),
            "registration": ["state": "unknown"], "warnings": [],
            "setAside": .array(StateDirectory.setAside(in: configuration.stateDirectory).map(JSON.string)),
        ])
    }

    private func diagnosis() -> JSON {
        var state = AgentState(
            now: time.now, clockIsPlausible: time.isPlausible, renewDays: configuration.gateway.renewDays)
        state.vaultFaults = [fault.error]
        state.diskTrouble = StateDirectory.trouble(in: configuration.stateDirectory)
        state.setAside = StateDirectory.setAside(in: configuration.stateDirectory)
        return Doctor.examine(state, by: [ClockCheck(), VaultCheck(), StorageCheck()])
    }
}
