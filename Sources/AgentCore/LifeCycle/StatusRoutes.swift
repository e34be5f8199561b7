import Groundwork
import LocalAPI

/// The agent's version, status and health.
extension AgentFeature {
    package func addStatusRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/version", needs: .read,
            .init("Version of the agent and of the libraries it runs with", answer: .version)
        ) { _ in
            .json(Version.report(of: self.host.featureTypes))
        }
        router.on(
            "GET", "/v1/status", needs: .read,
            .init(
                "Registration, certificate, token, broker, outbox, sensors",
                answer: .status(of: self.host.featureTypes))
        ) { _ in
            .json(try await self.host.statusReport())
        }
        router.on(
            "GET", "/v1/doctor", needs: .read,
            .init(
                "Every health check with its verdict: pass, warn, fail or skip", answer: .diagnosis)
        ) { _ in
            .json(try await self.host.diagnosis())
        }
    }
}

extension Version {
    /// This version and those of the libraries that features use, for programs.
    package static func report(of features: [any Feature.Type]) -> JSON {
        [
            "latchkey": .string(text),
            "libraries": .object(
                features.reduce(into: [:]) { all, feature in
                    for library in feature.libraries { all[library.name] = .string(library.version) }
                }),
        ]
    }
}
