/// The kind of an error: programs can decide by it, and it alone determines the HTTP status and the exit status.
public enum ExplanationKind: String, Sendable, CaseIterable {
    // Errors of the request.
    case misuse
    case unknownRoute = "unknown-route"
    case methodNotAllowed = "method-not-allowed"
    case notAcceptable = "not-acceptable"
    case invalidInput = "invalid-input"
    case tooLarge = "too-large"
    case headTooLarge = "head-too-large"
    case tooSlow = "too-slow"
    case invalidConfiguration = "invalid-configuration"
    case notFound = "not-found"

    // Errors of the current state.
    case conflict
    case busy
    case unconfigured
    case notAdmitted = "not-admitted"
    case tooMany = "too-many"
    case full
    case cancelled

    // Errors of permission.
    case unauthenticated
    case permission
    case denied

    // Errors of the other side.
    case refused
    case invalidAnswer = "invalid-answer"
    case unreachable

    // Errors of this machine.
    case temporary
    case unavailable
    case notRunning = "not-running"
    case configuration
    case damaged
    case `internal`

    /// The HTTP status of the local API.
    public var httpStatus: Int { facts.httpStatus }
    /// The exit status of a command.
    public var exitStatus: ExitStatus { facts.exitStatus }
    /// The meaning, as a sentence without its period.
    public var meaning: String { facts.meaning }

    private var facts: (httpStatus: Int, exitStatus: ExitStatus, meaning: String) {
        switch self {
        case .misuse: (400, .usage, "the command or the request does not follow its description")
        case .unknownRoute: (404, .usage, "the local API has no such route")
        case .methodNotAllowed: (405, .usage, "the route of the local API has no such method")
        case .notAcceptable: (406, .usage, "the request accepts none of the formats of the answer")
        case .invalidInput: (400, .input, "the input cannot be used, and nothing was sent")
        case .tooLarge: (413, .input, "the input is too large")
        case .headTooLarge: (431, .input, "the head of the request is too large")
        case .tooSlow: (408, .temporary, "the request did not arrive in time")
        case .invalidConfiguration: (400, .configuration, "the gateway's configuration document is not valid")
        case .notFound: (404, .failure, "the requested object does not exist")
        case .conflict: (409, .failure, "the present state of this board does not allow it")
        case .busy: (409, .temporary, "something else is in progress and must end first")
        case .unconfigured:
            (409, .configuration, "the board is not enrolled or not registered; a person must do that")
        case .notAdmitted:
            (409, .refused, "the gateway does not admit this board at present; a person must act there")
        case .tooMany: (429, .temporary, "too much was requested at once; try again later")
        case .full: (507, .temporary, "the disk or the outbox has no room at present")
        case .cancelled: (503, .failure, "it was canceled, or the person who was asked did not agree")
        case .unauthenticated: (401, .noPermission, "the request does not authenticate its sender")
        case .permission: (403, .noPermission, "this user may not do that")
        case .denied: (403, .refused, "a person, or the gateway for a person, did not agree to it")
        case .refused: (502, .refused, "the gateway, the broker or another device refused, or could not be verified")
        case .invalidAnswer:
            (502, .refused, "the gateway or another device gave an answer that does not follow the protocol")
        case .unreachable:
            (502, .temporary, "the gateway, the broker or another device could not be reached; try again later")
        case .temporary: (503, .temporary, "it does not work at the moment; try again later")
        case .unavailable: (503, .failure, "a required part of this machine is missing or does not work")
        case .notRunning: (503, .unavailable, "the program that should answer is not running, or did not answer")
        case .configuration:
            (500, .configuration, "a setting, or something that it names on this machine, is wrong or missing")
        case .damaged: (500, .configuration, "data stored on this board is damaged or was changed")
        case .internal: (500, .failure, "a fault of the program")
        }
    }
}
