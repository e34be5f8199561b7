import Groundwork
import LocalAPI

/// The event stream of the local API.
struct EventsFeature: Feature {
    let host: Host

    init(_ host: Host) { self.host = host }

    func addRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/events", needs: .read, .init("What happens, as an event stream", events: Schema.agentEvents)
        ) { [host] _ in
            .events(host.events.subscribe().map { LocalEvent(name: $0.name, data: $0.json) })
        }
    }
}
