public import Groundwork

/// What can go wrong between the daemon and a local program.
public enum LocalAPIError: Explained, Equatable {
    // MARK: The server's own

    /// Another process listens at the path.
    case alreadyRunning(path: String)
    case cannotListen(path: String, reason: String)
    /// libmicrohttpd is not installed, or a function of it that is needed is not in it.
    case libraryMissing(name: String)
    case badTarget(reason: String)
    case unknownParameter(name: String, known: [String])
    case badBody(reason: String)
    case notFound(path: String)
    case methodNotAllowed(method: String, path: String, allowed: [String])
    /// The policy does not give this user the permission.
    case accessDenied(permission: Permission, uid: UInt32)
    case tooManyRequests(uid: UInt32, Shortage)
    case tooManyConnections(uid: UInt32, Shortage)
    case bodyTooLarge(limit: Int)
    case headTooLarge(limit: Int)
    case requestTooSlow(limit: Duration)
    case stopping

    // MARK: The client's own

    /// Nothing listens at the path.
    case daemonNotRunning(path: String)
    /// The socket's mode does not let this user connect.
    case socketForbidden(path: String)
    case noAnswer(reason: String)
    case cancelled
    /// What the daemon said: its own error, as it came.
    case remote(status: Int, code: String, message: String, remedy: String?)

    public var code: String {
        switch self {
        case .alreadyRunning: "local-api.already-running"
        case .cannotListen: "local-api.cannot-listen"
        case .libraryMissing: "local-api.library-missing"
        case .badTarget: "local-api.bad-target"
        case .unknownParameter: "local-api.unknown-parameter"
        case .badBody: "local-api.bad-body"
        case .notFound: "local-api.not-found"
        case .methodNotAllowed: "local-api.method-not-allowed"
        case .accessDenied, .socketForbidden: "local-api.access-denied"
        case .tooManyRequests: "local-api.too-many-requests"
        case .tooManyConnections: "local-api.too-many-connections"
        case .bodyTooLarge: "local-api.body-too-large"
        case .headTooLarge: "local-api.head-too-large"
        case .requestTooSlow: "local-api.request-too-slow"
        case .stopping: "local-api.stopping"
        case .daemonNotRunning: "local-api.daemon-not-running"
        case .noAnswer: "local-api.no-answer"
        case .cancelled: "local-api.cancelled"
        case .remote(_, let code, _, _): code
        }
    }

    public var message: String {
        switch self {
        case .alreadyRunning(let path): "another daemon listens at \(path)"
        case .cannotListen(let path, let reason): "cannot listen at \(path): \(reason)"
        case .libraryMissing(let name): "nothing can listen without \(name), which could not be loaded"
        case .badTarget(let reason): "the path or query of the request \(reason)"
        case .unknownParameter(let name, _): "the query names \(name), which this route does not know"
        case .badBody(let reason): "the body of the request \(reason)"
        case .notFound(let path): "there is no \(path)"
        case .methodNotAllowed(let method, let path, _): "\(path) cannot be asked with \(method)"
        case .accessDenied(let permission, let uid): "user \(uid) may not \(permission.rawValue)"
        case .tooManyRequests(let uid, .ofUser(let limit)): "user \(uid) has \(limit) requests under way already"
        case .tooManyRequests(_, .ofOthers(let limit)): "all users but the owners have \(limit) requests under way already"
        case .tooManyConnections(let uid, .ofUser(let limit)): "user \(uid) has \(limit) connections open already"
        case .tooManyConnections(_, .ofOthers(let limit)): "all users but the owners have \(limit) connections open already"
        case .bodyTooLarge(let limit): "the body of the request has more than \(limit) bytes"
        case .headTooLarge(let limit): "the head of the request has more than \(limit) bytes"
        case .requestTooSlow(let limit): "the request was not complete within \(limit.components.seconds) s"
        case .stopping: "the daemon is stopping"
        case .daemonNotRunning(let path): "the daemon does not run: nothing listens at \(path)"
        case .socketForbidden(let path): "this user may not connect to \(path)"
        case .noAnswer(let reason): "no answer from the daemon: \(reason)"
        case .cancelled: "the request to the daemon was cancelled"
        case .remote(_, _, let message, _): message
        }
    }

    public var remedy: String? {
        switch self {
        case .alreadyRunning: "stop it first, or name another socket in api.socket"
        case .cannotListen: "check that the directory is there and that the agent's user may write in it"
        case .libraryMissing: "install the Debian package libmicrohttpd12"
        case .unknownParameter(_, let known):
            known.isEmpty ? "it takes no parameters" : "it takes: \(known.joined(separator: ", "))"
        case .notFound, .methodNotAllowed: "GET \(Router.documentPath) lists every route"
        case .accessDenied(let permission, _):
            "add the user or one of its groups to api.\(permission.rawValue) of the configuration"
        case .tooManyRequests: "end an event stream, or wait for an answer, then try again; event streams count as requests"
        case .tooManyConnections: "close connections that are not used, then try again"
        case .bodyTooLarge, .headTooLarge: "send less at once"
        case .stopping: "try again when it has started"
        case .daemonNotRunning: "start it with: systemctl start latchkey"
        case .socketForbidden: "add the user to the socket's group, or use sudo"
        case .noAnswer: "see what the daemon says: journalctl -u latchkey"
        case .remote(_, _, _, let remedy): remedy
        case .badTarget, .badBody, .requestTooSlow, .cancelled: nil
        }
    }

    /// The HTTP status that tells a program what kind of error this is.
    var status: Int {
        switch self {
        case .badTarget, .unknownParameter, .badBody: 400
        case .accessDenied: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .requestTooSlow: 408
        case .bodyTooLarge: 413
        case .tooManyRequests, .tooManyConnections: 429
        case .headTooLarge: 431
        case .stopping: 503
        case .alreadyRunning, .cannotListen, .libraryMissing, .daemonNotRunning, .socketForbidden, .noAnswer, .cancelled, .remote:
            500
        }
    }
}
