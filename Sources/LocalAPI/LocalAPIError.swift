public import Groundwork

/// An error between the daemon and a local program.
public enum LocalAPIError: Explained, Equatable {
    // MARK: Errors of the server

    /// Another process listens at the path.
    case alreadyRunning(path: String)
    case cannotListen(path: String, reason: String)
    /// libmicrohttpd is not installed, or lacks a function that is needed.
    case libraryMissing(name: String)
    case badTarget(reason: String)
    case unknownParameter(name: String, known: [String])
    case badBody(reason: String)
    /// A member of the body or a parameter is not as the route's schema says.
    case badRequest(member: String, fault: String)
    case notFound(path: String)
    case methodNotAllowed(method: String, path: String, allowed: [String])
    /// `Accept` names none of the forms in which the stream is offered.
    case notAcceptable(offered: [String])
    /// The policy does not give the user, named in full, the permission that the request needs.
    case accessDenied(user: String, method: String, path: String, permission: Permission)
    case tooManyRequests(uid: UInt32, Shortage)
    case tooManyConnections(uid: UInt32, Shortage)
    case bodyTooLarge(limit: Int)
    case headTooLarge(limit: Int)
    case requestTooSlow(limit: Duration)
    case stopping

    // MARK: Errors of the console's page

    /// The settings do not allow the page.
    case consoleOff
    case cannotListenOnPort(UInt16, reason: String)
    case tooManyConsoles(limit: Int)
    /// The request was not made by the console's own page.
    case consoleRequestForeign(reason: String)
    case consoleSessionMissing
    case consoleTokenRefused

    // MARK: Errors of the listener with a token

    case cannotListenOnAddress(String, reason: String)
    /// The request names a host that the listener does not have.
    case hostForeign(allowed: [String])
    case tokenRefused

    // MARK: Errors of the client

    /// Nothing listens at the path.
    case daemonNotRunning(path: String)
    /// The socket's mode does not let this user connect.
    case socketForbidden(path: String)
    case noAnswer(reason: String)
    /// The connection ended in the middle of an answer.
    case daemonEnded
    case cancelled
    /// The error that the daemon answered with, unchanged.
    case remote(status: Int, Explanation)

    public var explanation: Explanation {
        switch self {
        case .alreadyRunning(let path):
            Explanation(
                "local-api.already-running", .configuration, "another daemon is listening on \(path)",
                remedy: "stop it first, or name another socket in api.socket")
        case .cannotListen(let path, let reason):
            Explanation(
                "local-api.cannot-listen", .configuration, "cannot listen on \(path): \(reason)",
                remedy: "check that the directory exists and that the agent's user may write to it")
        case .libraryMissing(let name):
            Explanation(
                "local-api.library-missing", .unavailable,
                "the local API needs \(name), which could not be loaded",
                remedy: "install the Debian package libmicrohttpd12")
        case .badTarget(let reason):
            Explanation(
                "local-api.bad-target", .misuse, "the path or query of the request \(reason)",
                meaning: "the path or query of the request is ambiguous or not valid")
        case .unknownParameter(let name, let known):
            Explanation(
                "local-api.unknown-parameter", .misuse,
                "this route has no query parameter \(name)",
                remedy: known.isEmpty ? "it accepts no parameters" : "it accepts: \(known.joined(separator: ", "))")
        case .badBody(let reason):
            Explanation(
                "local-api.bad-body", .misuse, "the body of the request \(reason)",
                meaning: "the body of the request is not the JSON object that the route requires")
        case .badRequest(let member, let fault):
            Explanation(
                "local-api.bad-request", .misuse, "\(member): \(fault)",
                remedy: "see the command's --help; for programs, GET \(Router.documentPath) describes each request",
                meaning: "a member or a parameter of a request is missing, unknown or wrong")
        case .notFound(let path):
            Explanation("local-api.not-found", .unknownRoute, "there is no route \(path)", remedy: Self.routes)
        case .methodNotAllowed(let method, let path, _):
            Explanation(
                "local-api.method-not-allowed", .methodNotAllowed, "\(path) does not support \(method)",
                remedy: Self.routes)
        case .notAcceptable(let offered):
            Explanation(
                "local-api.not-acceptable", .notAcceptable,
                "the request accepts none of the formats of this stream",
                remedy: "accept one of: \(offered.joined(separator: ", "))")
        case .accessDenied(let user, let method, let path, let permission):
            Explanation(
                "local-api.access-denied", .permission,
                "\(user) may not \(method) \(path): that needs the right \(permission.rawValue)",
                remedy: "add the user, or one of its groups as @NAME, to \(permission.rawValue) of [api] in the "
                    + "settings, and restart the agent",
                meaning: "the settings do not give this user the right that the request needs")
        case .tooManyRequests(let uid, let shortage):
            Explanation(
                "local-api.too-many-requests", .tooMany,
                "\(Self.holders(uid, shortage)) requests in progress",
                remedy: "close an event stream or wait for an answer, then try again; event streams count as requests")
        case .tooManyConnections(let uid, let shortage):
            Explanation(
                "local-api.too-many-connections", .tooMany,
                "\(Self.holders(uid, shortage)) connections open",
                remedy: "close unused connections, then try again")
        case .bodyTooLarge(let limit):
            Explanation(
                "local-api.body-too-large", .tooLarge, "the body of the request has more than \(limit) bytes",
                remedy: "send less at once")
        case .headTooLarge(let limit):
            Explanation(
                "local-api.head-too-large", .headTooLarge,
                "the head of the request has more than \(limit) bytes",
                remedy: "send less at once")
        case .requestTooSlow(let limit):
            Explanation(
                "local-api.request-too-slow", .tooSlow,
                "the request was not complete within \(limit.components.seconds) s")
        case .stopping:
            Explanation(
                "local-api.stopping", .temporary, "the daemon is stopping",
                remedy: "try again when it has started")
        case .consoleOff:
            Explanation(
                "local-api.console-off", .conflict, "the console is off",
                remedy: "set console.enabled to true in the settings, and restart the agent")
        case .cannotListenOnPort(let port, let reason):
            Explanation(
                "local-api.cannot-listen-on-port", .configuration, "cannot listen on 127.0.0.1:\(port): \(reason)",
                remedy: "name another port in console.port, or 0 for any")
        case .tooManyConsoles(let limit):
            Explanation(
                "local-api.too-many-consoles", .tooMany, "there are already \(limit) sessions of the console",
                remedy: "end some: latchkey console --end")
        case .consoleRequestForeign(let reason):
            Explanation(
                "local-api.console-request-foreign", .permission,
                "the console's own page did not make this request: \(reason)",
                remedy: Self.console,
                meaning: "another page or program made a request that only the console's page may make")
        case .consoleSessionMissing:
            Explanation(
                "local-api.console-session-missing", .permission,
                "this request does not belong to a session of the console",
                remedy: Self.console)
        case .consoleTokenRefused:
            Explanation(
                "local-api.console-token-refused", .permission,
                "the console's address was used before, has expired, or is not valid",
                remedy: Self.console)
        case .cannotListenOnAddress(let address, let reason):
            Explanation(
                "local-api.cannot-listen-on-address", .configuration, "cannot listen on \(address): \(reason)",
                remedy: "name an address of this machine and a port that is free in api.listen")
        case .hostForeign(let allowed):
            Explanation(
                "local-api.host-foreign", .permission, "the Host of the request is not a name of this listener",
                remedy: "ask for \(allowed.joined(separator: " or ")), or add the name to api.names")
        case .tokenRefused:
            Explanation(
                "local-api.token-refused", .unauthenticated, "the request does not have the token of this listener",
                remedy: "send Authorization: Bearer with the token of api.token_file")
        case .daemonNotRunning(let path):
            Explanation(
                "local-api.daemon-not-running", .notRunning,
                "the daemon is not running: nothing is listening on \(path)",
                remedy: path == LocalClient.standardSocketPath
                    ? "start it: systemctl start latchkey; specify the socket of a daemon started by hand with "
                        + "--socket or LATCHKEY_SOCKET"
                    : "start the daemon whose settings name this socket (latchkey run --config FILE), or specify "
                        + "another with --socket or LATCHKEY_SOCKET")
        case .socketForbidden(let path):
            Explanation(
                "local-api.access-denied", .permission, "this user may not connect to \(path)",
                remedy: "add the user to the socket's group, or use sudo")
        case .noAnswer(let reason):
            Explanation(
                "local-api.no-answer", .notRunning, "no answer from the daemon: \(reason)",
                remedy: "check the daemon's log: journalctl -u latchkey")
        case .daemonEnded:
            Explanation(
                "local-api.daemon-ended", .notRunning,
                "the connection to the daemon ended before its answer was complete; the daemon may have been stopped",
                remedy: "see whether it runs: systemctl status latchkey; and its log: journalctl -u latchkey")
        case .cancelled: Explanation("local-api.cancelled", .cancelled, "the request to the daemon was canceled")
        case .remote(_, let explanation): explanation
        }
    }

    /// - Parameters:
    ///   - method: as it was sent.
    ///   - path: as it was sent, but decoded.
    static func denied(
        _ permission: Permission, to peer: Peer, _ method: String, _ path: String
    ) -> LocalAPIError {
        .accessDenied(
            user: DisplayText.clean(UserName.full(peer.uid)), method: method,
            path: DisplayText.oneLine(path, limit: 200), permission: permission)
    }

    private static let console = "run latchkey console, and open the address that it prints"
    private static let routes = "GET \(Router.documentPath) lists every route"

    /// The user or users who have reached the limit.
    private static func holders(_ uid: UInt32, _ shortage: Shortage) -> String {
        switch shortage {
        case .ofUser(let limit): "user \(uid) already has \(limit)"
        case .ofOthers(let limit): "the users who are not owners already have \(limit)"
        }
    }

    public static let examples: [LocalAPIError] = [
        .alreadyRunning(path: "PATH"), .cannotListen(path: "PATH", reason: "REASON"),
        .libraryMissing(name: "libmicrohttpd.so.12"),
        .badTarget(reason: "REASON"), .unknownParameter(name: "NAME", known: []), .badBody(reason: "REASON"),
        .badRequest(member: "MEMBER", fault: "is missing"),
        .notFound(path: "PATH"),
        .methodNotAllowed(method: "METHOD", path: "PATH", allowed: []), .notAcceptable(offered: ["TYPE"]),
        .accessDenied(user: "USER", method: "POST", path: "/v1/PATH", permission: .operate),
        .tooManyRequests(uid: 1000, .ofUser(limit: 10)), .tooManyConnections(uid: 1000, .ofUser(limit: 32)),
        .bodyTooLarge(limit: 1_048_576), .headTooLarge(limit: 16_384), .requestTooSlow(limit: .seconds(10)), .stopping,
        .consoleOff, .cannotListenOnPort(8480, reason: "REASON"), .tooManyConsoles(limit: 16),
        .consoleRequestForeign(reason: "REASON"), .consoleSessionMissing, .consoleTokenRefused,
        .cannotListenOnAddress("ADDRESS", reason: "REASON"), .hostForeign(allowed: ["127.0.0.1:PORT"]), .tokenRefused,
        .daemonNotRunning(path: LocalClient.standardSocketPath), .socketForbidden(path: "PATH"),
        .noAnswer(reason: "REASON"), .daemonEnded,
        .cancelled, .remote(status: 500, remoteWithoutError(status: 500)),
    ]

    /// The explanation of a failure answer of the daemon that contains no error.
    static func remoteWithoutError(status: Int) -> Explanation {
        Explanation(
            "local-api.no-answer", .notRunning, "the daemon answered with status \(status)",
            remedy: "check the daemon's log: journalctl -u latchkey")
    }
}
