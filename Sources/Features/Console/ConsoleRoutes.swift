import AgentCore
import Groundwork
import LocalAPI

/// Opening the console's page, and ending it.
extension ConsoleFeature {
    package func addRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/console", needs: .read,
            .init(
                "Open the console's page with the caller's rights: an address that works once",
                answer: .object(all: [
                    "address": Schema.string("address to open in a browser on this board").asSensitive,
                    "port": .integer("on 127.0.0.1"), "secondsLeft": .integer("until the address expires"),
                ]))
        ) { request in
            guard self.host.settings[ConsoleSettings.self].enabled else { throw LocalAPIError.consoleOff }
            let offer = try await self.server.offer(
                to: request.peer, by: try AccessPolicy(self.host.settings.api), router: self.pageRouter(),
                files: try ConsolePage.files(
                    self.host.settings, self.host.features.compactMap { type(of: $0).consoleSection }))
            return .json([
                "address": .string(offer.address), "port": .integer(Int64(offer.port)),
                "secondsLeft": .integer(offer.life.components.seconds),
            ])
        }
        addSessionRoutes(to: &router)
    }

    /// What the page may ask for: everything, but for a further session, which would outlive its own.
    private func pageRouter() -> Router {
        var router = host.router(withSessions: false)
        addSessionRoutes(to: &router)
        return router
    }

    private func addSessionRoutes(to router: inout Router) {
        let session = Schema.object(all: [
            "user": .string("user whose rights it has"),
            "state": .string("whether its address was opened", choices: ["offered", "open"]),
            "secondsLeft": .integer("until it ends if it is not used"),
        ])
        router.on(
            "GET", "/v1/console", needs: .read,
            .init(
                "The sessions of the console: your own; all of them if you are an owner",
                answer: .object(all: [
                    "enabled": .boolean("whether the settings allow the console"),
                    "sessions": .array(of: session, "in the order in which they were requested"),
                ]))
        ) { request in
            let sessions = self.server.sessions(of: request.isOwner ? nil : request.peer.uid).map { session -> JSON in
                [
                    "user": .string(UserName.of(session.uid)), "state": session.isOpen ? "open" : "offered",
                    "secondsLeft": .integer(session.secondsLeft),
                ]
            }
            return .json([
                "enabled": .bool(self.host.settings[ConsoleSettings.self].enabled), "sessions": .array(sessions),
            ])
        }
        router.on(
            "DELETE", "/v1/console", needs: .read,
            .init(
                "End sessions of the console: your own; all of them if you are an owner",
                answer: .object(all: ["ended": .integer("how many sessions")]))
        ) { request in
            .json(["ended": .integer(Int64(self.server.end(of: request.isOwner ? nil : request.peer.uid)))])
        }
    }
}
