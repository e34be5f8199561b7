import Groundwork
import LocalAPI

/// What the agent is and how it stands.
extension Agent {
    nonisolated func addStatusRoutes(to router: inout Router) {
        router.on("GET", "/v1/version", needs: .read, .versionOfAgent) { _ in
            .json(Version.report)
        }
        router.on(
            "GET", "/v1/status", needs: .read,
            .init(
                "Registration, certificate, token, broker, outbox, sensors", answer: .status)
        ) { _ in
            .json(try await self.statusReport())
        }
        router.on(
            "GET", "/v1/doctor", needs: .read,
            .init(
                "Every health check with its verdict: pass, warn, fail or skip", answer: .diagnosis)
        ) { _ in
            .json(Doctor.examine(try await self.examinedState()))
        }
        router.on(
            "GET", "/v1/events", needs: .read,
            .init(
                "What happens, as an event stream", events: Schema.agentEvents)
        ) { _ in
            let events = self.events.subscribe()
            return .events(events.map { LocalEvent(name: $0.name, data: $0.json) })
        }
    }
}

extension RouteDescription {
    static let versionOfAgent = RouteDescription(
        "Version of the agent and of the libraries it runs with", answer: .version)
}

extension Version {
    static var report: JSON {
        [
            "latchkey": .string(text),
            "libraries": .object(Dictionary(uniqueKeysWithValues: libraries.map { ($0.name, .string($0.version)) })),
        ]
    }
}
