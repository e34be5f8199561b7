import Groundwork
import LocalAPI

/// Opening the console's page, and ending it.
extension Agent {
    nonisolated func addConsoleRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/console", needs: .read,
            .init(
                "Open the console's page with the rights of the user who asks: an address that works once",
                answer: .object(
                    [
                        "address": Schema.string("to open in a browser on this board").asSensitive,
                        "port": .integer("on 127.0.0.1"), "secondsLeft": .integer("until the address is worth nothing"),
                    ], required: ["address", "port", "secondsLeft"]))
        ) { request in
            guard self.configuration[ConsoleFeature.enabled] else { throw LocalAPIError.consoleOff }
            let offer = try await self.console.offer(
                to: request.peer, by: try AccessPolicy(self.configuration.api), router: self.consoleRouter(),
                files: try ConsolePage.files(self.configuration))
            return .json([
                "address": .string(offer.address), "port": .integer(Int64(offer.port)),
                "secondsLeft": .integer(offer.life.components.seconds),
            ])
        }
        addConsoleSessionRoutes(to: &router)
    }

    /// What the page may ask for: everything, but for a further session, which would outlive its own.
    private nonisolated func consoleRouter() -> Router {
        var router = Router()
        for feature in features where !(feature is ConsoleFeature) { feature.addRoutes(to: &router, of: self) }
        addConsoleSessionRoutes(to: &router)
        return router
    }

    private nonisolated func addConsoleSessionRoutes(to router: inout Router) {
        let session = Schema.object(
            [
                "user": .string("whose rights it has"),
                "state": .string("whether its address was opened", choices: ["offered", "open"]),
                "secondsLeft": .integer("until it ends if nobody uses it"),
            ], required: ["user", "state", "secondsLeft"])
        router.on(
            "GET", "/v1/console", needs: .read,
            .init(
                "The sessions of the console: one's own, or for an owner all",
                answer: .object(
                    [
                        "enabled": .boolean("whether the settings allow the console"),
                        "sessions": .array(of: session, "in the order in which they were asked for"),
                    ], required: ["enabled", "sessions"]))
        ) { request in
            let sessions = self.console.sessions(of: request.isOwner ? nil : request.peer.uid).map { session -> JSON in
                [
                    "user": .string(UserName.of(session.uid)), "state": session.isOpen ? "open" : "offered",
                    "secondsLeft": .integer(session.secondsLeft),
                ]
            }
            return .json([
                "enabled": .bool(self.configuration[ConsoleFeature.enabled]), "sessions": .array(sessions),
            ])
        }
        router.on(
            "DELETE", "/v1/console", needs: .read,
            .init(
                "End the sessions of the console: one's own, or for an owner all",
                answer: .object(["ended": .integer("how many sessions")], required: ["ended"]))
        ) { request in
            .json(["ended": .integer(Int64(self.console.end(of: request.isOwner ? nil : request.peer.uid)))])
        }
    }
}
