import AgentCore
import Groundwork

/// Fails when the listener of the local API does not listen, and warns when other machines could read the token.
struct ListenerCheck: HealthCheck {
    static let name = "api-listener"

    func run(_ agent: AgentState) -> Verdict {
        guard let found = agent.found[Self.name], let listen = found["listen"]?.string else {
            return .skip("the settings name no address to listen on")
        }
        if found["idle"]?.bool == true { return .skip("it listens once the agent has started") }
        if let fault = found["fault"] {
            return .fail(
                fault["message"]?.string ?? "it does not listen",
                remedy: fault["remedy"]?.string ?? "see the agent's log: latchkey logs")
        }
        let weak = found["weak"]?.array?.compactMap(\.string) ?? []
        guard !weak.isEmpty else { return .pass("listens on \(listen), for programs that have its token") }
        return .warn(
            "listens on \(listen): \(weak.joined(separator: "; "))",
            remedy: "listen on 127.0.0.1 with a token of 32 characters or more; from other machines through a tunnel")
    }
}
