import AgentCore
import Glibc
import Groundwork
import Settings

/// Runs the command of one action: `latchkey actions serve`, which systemd starts for each connection to the socket of
/// actions, as a user of its own and in a sandbox of its own.
///
/// The agent has keys and tokens in memory, and may start nothing itself. It sends a name and a message; which command
/// the name stands for, the runner reads from the settings.
package enum ActionRunner {
    /// How long the agent may take to send its request.
    private static let patience = timeval(tv_sec: 10, tv_usec: 0)

    /// Serves the connection on standard input.
    ///
    /// - Parameters:
    ///   - settings: the path of the settings file; `nil` for the usual one.
    ///   - features: of the program, which read the file.
    package static func serve(settings: String?, of features: [any Feature.Type]) {
        // Kept apart from the descriptors that the command has.
        let caller = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        var patience = Self.patience
        let timed = setsockopt(
            caller, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard caller >= 0, timed == 0, let (request, payload) = receive(from: caller) else { return }
        signal(SIGPIPE, SIG_IGN)
        // The starter of this may ignore it: then it would not be known how the command ended.
        signal(SIGCHLD, SIG_DFL)
        guard let outcome = run(request, payload, settings, features, caller) else { return }
        let answer = outcome.json.bytes
        var sent = 0
        while sent < answer.count {
            let count = answer.withUnsafeBytes {
                send(caller, $0.baseAddress! + sent, answer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { return }
            sent += max(count, 0)
        }
    }

    private static func run(
        _ request: ActionRequest, _ payload: [UInt8], _ settings: String?, _ features: [any Feature.Type],
        _ caller: CInt
    ) -> ActionOutcome? {
        let actions: [ActionSettings]
        do throws(ConfigurationError) {
            actions = try AgentConfiguration.load(path: settings, of: features).actions
        } catch {
            return .refused(error.message)
        }
        guard let action = actions.first(where: { $0.name == request.action }) else {
            return .refused("the settings have no action \(DisplayText.clean(request.action))")
        }
        guard geteuid() != 0 || action.allowsRoot else {
            return .refused("it would run as root, and allow_root is not set")
        }
        let variables = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "LATCHKEY_ACTION": action.name,
        ].merging(request.variables) { own, _ in own }
        guard
            var command = ActionCommand(
                action.command, variables: variables, payload: payload, outputLimit: action.outputLimit)
        else { return .refused("\(action.command[0]): \(String(cString: strerror(errno)))") }
        return command.run(for: .seconds(action.timeoutSeconds), caller: caller)
    }

    /// - Returns: `nil` if there is none.
    private static func receive(from caller: CInt) -> (ActionRequest, [UInt8])? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        var request: ActionRequest?
        while true {
            if request == nil, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                guard let parsed = ActionRequest(parsing: Array(bytes[..<end])) else { return nil }
                request = parsed
                bytes.removeFirst(end + 1)
            }
            if let request, bytes.count >= request.bytes { return (request, Array(bytes.prefix(request.bytes))) }
            guard request != nil || bytes.count <= ActionRequest.headLimit else { return nil }
            let count = recv(caller, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += piece[..<count]
        }
    }
}
