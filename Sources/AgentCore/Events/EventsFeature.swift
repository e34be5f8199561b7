import Groundwork
import LocalAPI

/// The event stream of the local API.
package struct EventsFeature: Feature {
    package let host: Host

    package init(_ host: Host) { self.host = host }

    package func addRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/events", needs: .read,
            .init(
                "Events as they happen, as an event stream",
                events: Schema.events(of: host.featureTypes))
        ) { [host] _ in
            .events(host.events.subscribe().map { LocalEvent(name: $0.name, data: $0.json) })
        }
    }
}
