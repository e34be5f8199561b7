import AgentCore
import Groundwork

/// Why the listener of the local API does not listen.
enum ListenerError: Explained, Equatable {
    case notAnAddress(String)
    case beyondLoopback(String)
    case tokenUnusable(path: String, reason: String)
    case userUnusable(name: String, reason: String)

    var explanation: Explanation {
        switch self {
        case .notAnAddress(let text):
            Explanation(
                "api.not-an-address", .configuration,
                "api.listen is \(text), which is not one numeric address with a port",
                remedy: "write it as 127.0.0.1:9464 or [::1]:9464")
        case .beyondLoopback(let text):
            Explanation(
                "api.beyond-loopback", .configuration, "api.listen is \(text), which other machines reach",
                remedy: "listen on 127.0.0.1, or set api.beyond_loopback to true")
        case .tokenUnusable(let path, let reason):
            Explanation(
                "api.token-unusable", .configuration, "cannot use the token in \(path): \(reason)",
                remedy: "make one: (umask 077; head -c 24 /dev/urandom | base64 > FILE), name it in api.token_file "
                    + "and give it to the agent's user")
        case .userUnusable(let name, let reason):
            Explanation(
                "api.user-unusable", .configuration, "api.token_user is \(name), but \(reason)",
                remedy: "make a user for the program that has the token, such as: useradd --system \(name)")
        }
    }

    static let examples: [ListenerError] = [
        .notAnAddress("TEXT"), .beyondLoopback("ADDRESS"), .tokenUnusable(path: "PATH", reason: "REASON"),
        .userUnusable(name: "NAME", reason: "REASON"),
    ]
}
