import LocalAPI

extension Agent {
    /// What an error is in HTTP, by its stable code: the first beginning that fits.
    private static let statuses: [(prefix: String, status: Int)] = [
        ("agent.bad-request", 400), ("agent.no-such-part", 404), ("agent.", 409),
        ("messaging.invalid-", 400), ("messaging.empty-payload", 400), ("messaging.payload-too-large", 413),
        ("messaging.outbox-full", 507), ("messaging.", 503),
        ("gateway.configuration-", 400), ("gateway.enrollment-url-", 400), ("gateway.enrollment-key-hash-", 400),
        ("gateway.path-", 400), ("gateway.host-", 400), ("gateway.not-registered", 409), ("gateway.awaiting-activation", 409),
        ("gateway.registration-withdrawn", 409), ("gateway.", 502), ("http.", 502),
    ]

    /// Every route of the local API; the OpenAPI document is made from it.
    nonisolated func router() -> Router {
        var router = Router(statuses: Self.statuses)
        addStatusRoutes(to: &router)
        addIdentityRoutes(to: &router)
        addMessageRoutes(to: &router)
        addBoardRoutes(to: &router)
        return router
    }
}
