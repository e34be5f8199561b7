import AgentCore
import Groundwork
import MPin

/// What happened to users of M-Pin back ends. No event has a PIN, a token, or a password.
enum MPinEvent: ReportedEvent {
    /// The back end has given the user an identity, or a new one.
    case didStartRegistration(user: String, MPinUserState)
    case didRegister(user: String)
    case didLogin(user: String, by: MPinLoginWay)
    case didFailToLogin(user: String, MPinError)
    /// The PIN was wrong too often; the token is gone.
    case didBlock(user: String)
    case didLogOut(user: String)
    case didDelete(user: String)

    static let meanings = [
        "mpin.user-did-block":
            "an M-Pin user entered a wrong PIN too often; the token was erased, and the user must register again",
        "mpin.user-did-delete": "an M-Pin user was deleted on this board, with the token",
        "mpin.user-did-fail-to-log-in": "a login by M-Pin failed; the event says why",
        "mpin.user-did-log-in": "a user logged in by M-Pin at a back end",
        "mpin.user-did-log-out": "the session that an M-Pin login had begun in a browser was ended from here",
        "mpin.user-did-register": "an M-Pin user has chosen a PIN, and the token is kept on this board",
        "mpin.user-did-start-registration": "an M-Pin back end has given a user an identity, which it verifies next",
    ]

    static var details: [String: Schema] {
        [
            "user": .mpinUserID,
            "state": .string("state of the user", choices: MPinUserState.allCases.map(\.rawValue)),
            "way": .string("purpose of the login", choices: MPinLoginWay.allCases.map(\.rawValue)),
        ]
    }

    var report: EventReport {
        switch self {
        case .didStartRegistration(let user, let state):
            EventReport(
                "mpin.user-did-start-registration", .routine, nil,
                ["user": .string(user), "state": .string(state.rawValue)])
        case .didRegister(let user): EventReport("mpin.user-did-register", .notable, nil, ["user": .string(user)])
        case .didLogin(let user, let way):
            EventReport(
                "mpin.user-did-log-in", .notable, nil, ["user": .string(user), "way": .string(way.rawValue)])
        // Not a trouble of the board: the person has got the error.
        case .didFailToLogin(let user, let error):
            EventReport("mpin.user-did-fail-to-log-in", error: error, as: .notable, ["user": .string(user)])
        case .didBlock(let user): EventReport("mpin.user-did-block", .notable, nil, ["user": .string(user)])
        case .didLogOut(let user): EventReport("mpin.user-did-log-out", .routine, nil, ["user": .string(user)])
        case .didDelete(let user): EventReport("mpin.user-did-delete", .notable, nil, ["user": .string(user)])
        }
    }
}
