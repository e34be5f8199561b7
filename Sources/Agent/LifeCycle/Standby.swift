import AgentCore
import Groundwork
import LocalAPI
import Logging
import Storage
import Vault

/// The agent while its vault cannot be used for an external reason: a disk that is full, read-only or failing, a vault
/// that a newer version wrote, one that belongs to another board, or an earlier copy that the settings refuse.
///
/// Nothing is damaged, so nothing is set aside or changed. `latchkey status` and `latchkey doctor` say what is wrong,
/// the routes of features that need the vault answer with the reason, and the agent continues by itself once the vault
/// opens.
struct Standby {
    let host: Host
    let logger: Logger

    /// Whether waiting may help; other errors need an administrator, who then restarts the agent.
    static func helps(against error: VaultError) -> Bool {
        switch error {
        case .newerVersion, .otherBoard, .rollback: true
        // A chip that is there tomorrow opens the vault; another one never will.
        case .chip(let error): error != .otherChip
        // A try with a PIN that was refused is never repeated, and the rest may change outside.
        case .token: true
        case .storage(.full), .storage(.readOnly), .storage(.inputOutput), .storage(.busy): true
        // Waiting without success would hide the error from the administrator, so a new one counts as one of these.
        default: false
        }
    }

    /// Reports the error, and retries with growing delays, until `open` succeeds.
    ///
    /// - Parameter error: why the vault did not open.
    /// - Throws: the error of `open` if waiting no longer helps, or the error of the local API.
    func wait(after error: VaultError, for open: () async throws -> Void) async throws {
        host.vaultFault = error
        let api = host.settings.api
        let server = LocalServer(
            socketPath: api.socket, policy: try AccessPolicy(api), router: host.standbyRouter())
        let listening = Result { try server.listen() }
        // Only once the socket answers, for people and programs that read this and ask for more.
        logger.error("waiting: \(error.message)\(error.remedy.map { "; \($0)" } ?? "")")
        try listening.get()
        let notifier = ServiceNotifier()
        notifier.ready("waiting: \(error.message)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { await Watchdog(notifier: notifier) {}.run() }
            defer { group.cancelAll() }
            var backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
            while true {
                // A person who has decided does not wait long.
                switch host.vaultFault {
                case .otherBoard, .rollback: backoff.reset()
                default: break
                }
                try await Task.sleep(for: backoff.next())
                do {
                    return try await open()
                } catch let error as VaultError where Self.helps(against: error) {
                    host.vaultFault = error
                }
            }
        }
        host.vaultFault = nil
    }
}
