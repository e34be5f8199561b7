import AgentCore
import Groundwork

/// What happens at OAuth servers.
enum OAuthEvent: ReportedEvent {
    /// An account has no token any more until a person logs in.
    case logInNeeded(any Error)

    static let meanings = [
        "oauth.log-in-needed": "an OAuth server no longer renews the token of an account; a user must log in"
    ]

    var report: EventReport {
        switch self {
        case .logInNeeded(let error): EventReport("oauth.log-in-needed", error: error)
        }
    }
}
