import ArgumentParser
import Groundwork

/// What `latchkey wait` can wait for, by what the status shows.
enum WaitState: String, CaseIterable, ExpressibleByArgument {
    case running
    case enrolled
    case registered
    case network
    case gateway
    case token
    case broker
    case connected
    case userLoggedIn = "user-logged-in"
    case outboxEmpty = "outbox-empty"

    /// - Parameters:
    ///   - status: of the agent.
    ///   - account: the status of the account that is meant; the agent's own has that of the default one.
    func isMet(by status: JSON, account: JSON) -> Bool {
        switch self {
        case .running: status["vault"]?["error"] == nil
        case .enrolled: account["gateway"] != nil || account["server"] != nil || account["backend"] != nil
        case .registered: account["registration"]?["state"]?.string == "registered"
        case .network: status["network"]?["state"]?.string == "connected"
        case .gateway: status["network"]?["gateway"]?.string == "reachable"
        case .token: (account["token"]?["lifeLeft"]?.integer ?? 0) > 0
        case .broker: status["broker"]?["state"]?.string == "connected"
        case .connected:
            Self.registered.isMet(by: status, account: account) && Self.broker.isMet(by: status, account: account)
        case .userLoggedIn: account["user"]?["loggedIn"]?.bool == true
        case .outboxEmpty: status["outbox"]?["depth"]?.integer == 0
        }
    }

    /// What the status shows in place of it.
    func shown(by status: JSON, account: JSON) -> String {
        let found: String? =
            switch self {
            case .running: status["vault"]?["error"]?["message"]?.string
            case .registered: account["registration"]?["state"]?.string
            case .network: status["network"]?["state"]?.string
            case .gateway: status["network"]?["gateway"]?.string
            case .broker, .connected: status["broker"]?["state"]?.string
            case .outboxEmpty: (status["outbox"]?["depth"]?.integer).map { "\(Amount.of($0, "message"))" }
            case .enrolled, .token, .userLoggedIn: nil
            }
        return found.map { "\(rawValue) (\($0))" } ?? rawValue
    }

    static let help = """
        running: the daemon answers; enrolled; registered; network; gateway: it answers; token: the board has an access token; broker: \
        connected to it; connected: registered and connected; user-logged-in; outbox-empty: the broker has everything.
        """
}
