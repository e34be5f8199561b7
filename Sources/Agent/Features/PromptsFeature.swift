import Groundwork
import LocalAPI
import Prompts

/// Prompts: the waiting questions to people are listed, answered and reported.
struct PromptsFeature: Feature {
    init(_ host: Host) {}

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addPromptRoutes(to: &router) }

    func services(of agent: Agent) -> [any Service] {
        let prompts = agent.prompts.events.subscribe()
        return [agent.restarting("prompt events") { for await event in prompts { agent.report(event) } }]
    }

    static var events: [any ReportedEvent.Type] { [PromptEvent.self] }
}
