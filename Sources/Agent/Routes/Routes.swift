import LocalAPI

extension Agent {
    /// What an error is in HTTP, by its stable code: the first beginning that fits.
    private static let statuses: [(prefix: String, status: Int)] = [
        ("agent.bad-request", 400), ("agent.browser-answer-invalid", 400), ("agent.no-such-", 404),
        ("agent.topic-reserved", 403), ("agent.", 409),
        ("messaging.invalid-", 400), ("messaging.empty-payload", 400), ("messaging.payload-too-large", 413),
        ("messaging.outbox-full", 507), ("messaging.", 503),
        ("gateway.configuration-", 400), ("gateway.enrollment-url-", 400), ("gateway.enrollment-key-hash-", 400),
        ("gateway.path-", 400), ("gateway.host-", 400), ("gateway.not-registered", 409), ("gateway.awaiting-activation", 409),
        ("gateway.registration-withdrawn", 409), ("gateway.user-required", 409), ("gateway.user-credentials-", 400),
        ("gateway.provider-url-", 400), ("gateway.", 502), ("http.", 502),
        ("proximity.no-such-request", 404), ("proximity.no-user-session", 409), ("proximity.sharing-in-progress", 409),
        ("proximity.login-in-progress", 409), ("proximity.invalid-", 400), ("proximity.user-declined", 403),
        ("proximity.nobody-to-ask", 403), ("proximity.request-", 429), ("proximity.", 502), ("bluetooth.", 503),
    ]

    /// Every route of the local API; the OpenAPI document is made from it.
    nonisolated func router() -> Router {
        var router = Router(statuses: Self.statuses)
        addStatusRoutes(to: &router)
        addIdentityRoutes(to: &router)
        addUserRoutes(to: &router)
        addProximityRoutes(to: &router)
        addMessageRoutes(to: &router)
        addBoardRoutes(to: &router)
        return router
    }
}
