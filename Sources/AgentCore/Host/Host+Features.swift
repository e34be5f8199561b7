import Groundwork
import LocalAPI
import Vault

/// Combines what the features contribute.
extension Host {
    /// Every route of the local API; the OpenAPI document is made from it.
    ///
    /// - Parameter hasSessions: whether with those that begin sessions.
    package func router(withSessions hasSessions: Bool = true) -> Router {
        var router = Router()
        for feature in features where hasSessions || !type(of: feature).opensSessions { feature.addRoutes(to: &router) }
        return router
    }

    /// The same routes while the vault cannot be opened: those that need it answer with the reason.
    package func standbyRouter() -> Router {
        var router = Router()
        for feature in features {
            guard type(of: feature).needsVault else {
                feature.addRoutes(to: &router)
                continue
            }
            var closed = Router()
            feature.addRoutes(to: &closed)
            router.on(eachOf: closed) { _ in throw self.vaultFault ?? .closed(path: self.vault.path) }
        }
        return router
    }

    /// The usable features: all of them, unless the vault cannot be opened.
    private var openFeatures: [any Feature] {
        vaultFault == nil ? features : features.filter { !type(of: $0).needsVault }
    }

    /// What `latchkey status` shows.
    package func statusReport() async throws -> JSON {
        var report: [String: JSON] = [:]
        for feature in openFeatures { report.merge(try await feature.status()) { _, later in later } }
        report["warnings"] = .array(try await warnings().map(JSON.string))
        return .object(report)
    }

    /// What a person should change, though everything works.
    package func warnings() async throws -> [String] {
        var warnings: [String] = []
        for feature in openFeatures { warnings += try await feature.warnings() }
        return warnings
    }

    /// Gathers once everything that the health checks judge.
    package func examinedState() async throws -> AgentState {
        var state = AgentState(
            now: time.now, clockIsPlausible: time.isPlausible)
        for feature in openFeatures { try await feature.examine(into: &state) }
        return state
    }

    /// What `latchkey doctor` shows.
    package func diagnosis() async throws -> JSON {
        Doctor.examine(try await examinedState(), by: openFeatures.flatMap { type(of: $0).checks })
    }
}
