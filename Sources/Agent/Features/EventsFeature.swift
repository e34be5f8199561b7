import Groundwork
import LocalAPI

/// The event stream of the local API.
struct EventsFeature: Feature {
    init(_ host: Host) {}

    func addRoutes(to router: inout Router, of agent: Agent) {
        router.on(
            "GET", "/v1/events", needs: .read, .init("What happens, as an event stream", events: Schema.agentEvents)
        ) { _ in
            .events(agent.events.subscribe().map { LocalEvent(name: $0.name, data: $0.json) })
        }
    }
}
