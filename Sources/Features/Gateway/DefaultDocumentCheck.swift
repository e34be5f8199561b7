import AgentCore
import Gateway
import Groundwork

/// Fails when the default document of the settings cannot be used.
package struct DefaultDocumentCheck: HealthCheck {
    package static let name = "default-document"

    package func run(_ agent: AgentState) -> Verdict {
        guard let finding = agent.found[Self.name] else { return .skip("the settings name none") }
        if let fault = finding["message"]?.string {
            return .fail(
                fault,
                remedy: finding["remedy"]?.string ?? "check it with: latchkey config check, and restart the agent")
        }
        let gateway = finding["gateway"]?.string ?? ""
        return .pass(
            finding["isActive"]?.bool == true ? "\(gateway), in use" : "\(gateway); another configuration is in use")
    }
}

extension GatewayAccounts {
    /// What is found of the present default document: its gateway, or why it cannot be used.
    package func findingOfDefaultDocument() async -> JSON? {
        if let fault = defaultDocumentFault { return .object(fault.members) }
        do {
            guard let gateway = try await defaultDocument() else { return nil }
            return [
                "gateway": .string(gateway.identity.baseURL),
                "isActive": .bool(link?.gateway.identity == gateway.identity),
            ]
        } catch {
            return .object(Explanation(of: error).members)
        }
    }
}
