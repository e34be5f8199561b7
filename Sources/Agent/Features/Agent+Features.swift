import Groundwork
import LocalAPI
import Vault

/// Combines what the features contribute.
extension Agent {
    /// Every route of the local API; the OpenAPI document is made from it.
    nonisolated func router() -> Router { host.router() }

    /// The same routes while the vault cannot be opened: those that need it answer with the reason.
    nonisolated func standbyRouter() -> Router {
        var router = Router()
        for feature in features {
            guard type(of: feature).needsVault else {
                feature.addRoutes(to: &router, of: self)
                continue
            }
            var closed = Router()
            feature.addRoutes(to: &closed, of: self)
            router.on(eachOf: closed) { _ in
                throw self.vaultFault ?? .closed(path: self.vault.path)
            }
        }
        return router
    }

    /// The usable features: all of them, unless the vault cannot be opened.
    private nonisolated var openFeatures: [any Feature] {
        vaultFault == nil ? features : features.filter { !type(of: $0).needsVault }
    }

    /// What `latchkey status` shows.
    func statusReport() async throws -> JSON {
        var report: [String: JSON] = [:]
        for feature in openFeatures { report.merge(try await feature.status(of: self)) { _, later in later } }
        report["warnings"] = .array(try await warnings().map(JSON.string))
        return .object(report)
    }

    /// What a person should change, though everything works.
    func warnings() async throws -> [String] {
        var warnings: [String] = []
        for feature in openFeatures { warnings += try await feature.warnings(of: self) }
        return warnings
    }

    /// Gathers once everything that the health checks judge.
    func examinedState() async throws -> AgentState {
        var state = AgentState(
            now: time.now, clockIsPlausible: time.isPlausible, renewDays: configuration.gateway.renewDays)
        for feature in openFeatures { try await feature.examine(self, into: &state) }
        return state
    }

    /// What `latchkey doctor` shows.
    func diagnosis() async throws -> JSON {
        Doctor.examine(try await examinedState(), by: openFeatures.flatMap { type(of: $0).checks })
    }

    nonisolated func services() -> [any Service] { features.flatMap { $0.services(of: self) } }

    nonisolated func restarting(_ name: String, _ body: @escaping @Sendable () async throws -> Void) -> Restarting {
        host.restarting(name, body)
    }
}
