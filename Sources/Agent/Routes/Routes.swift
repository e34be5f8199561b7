import LocalAPI

extension Agent {
    /// Every route of the local API; the OpenAPI document is made from it.
    nonisolated func router() -> Router {
        var router = Router()
        addStatusRoutes(to: &router)
        addIdentityRoutes(to: &router)
        addVaultRoutes(to: &router)
        addUserRoutes(to: &router)
        addProximityRoutes(to: &router)
        addMessageRoutes(to: &router)
        addDeadLetterRoutes(to: &router)
        addBoardRoutes(to: &router)
        return router
    }
}
