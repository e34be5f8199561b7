import AgentCore
import AgentGateway
import Bluetooth
import Groundwork
import LocalAPI
import Prompts
import Proximity

/// Letting other devices in, and giving consent to it.
extension NearbyFeature {
    package func addProximityRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/proximity", needs: .read,
            .init(
                "Whether the session is shared, who waits for consent, and the state of the Bluetooth adapter",
                answer: .object(
                    [
                        "sharing": .boolean("whether the session is shared"),
                        "onAir": .boolean("whether devices nearby can find it just now"),
                        "policy": .string("when the board shares by itself", choices: ["never", "button", "always"]),
                        "term": .string("when sharing ends by itself", choices: ["once", "lasting", "endless"]),
                        "consents": .consents,
                        "ambiguous": .boolean("whether several devices ask, so the button lets none of them in"),
                        "bluetooth": AdapterStatus.schema(),
                    ], required: ["sharing", "onAir", "policy", "consents", "ambiguous", "bluetooth"]))
        ) { _ in .json(await self.nearby.report()) }
        router.on(
            "GET", "/v1/proximity/audit", needs: .operate,
            .init(
                "The devices that asked to be let in, the newest last",
                query: ["count": .integer("maximum number of records; 100 by default", in: 1...1000)],
                answer: .object(all: ["records": .array(of: .auditRecord, "the newest last")]))
        ) { request in
            let count = try request.integer("count", in: 1...1000, default: 100)
            return .json(["records": .array(await self.nearby.audit.newest(Int(count)))])
        }
        router.on(
            "POST", "/v1/proximity/sharing", needs: .operate,
            .init(
                "Offer the session of the user who is logged in to devices nearby, over Bluetooth",
                body: [
                    "once": .boolean("stop after one device has been let in"),
                    "seconds": .integer("duration; 600 by default", in: 1...86_400),
                ],
                answer: Self.sharingSchema)
        ) { request in
            let body = RequestBody(request)
            let seconds = try body.integer("seconds", in: 1...86_400, default: 600)
            let isOnce = try body.bool("once", default: false)
            guard !isOnce || body["seconds"] == nil else {
                throw AgentError.badRequest(member: "seconds", fault: "cannot be given together with once")
            }
            try await self.share(isOnce ? .once : .lasting(.seconds(seconds)))
            return .json(["sharing": true])
        }
        router.on(
            "DELETE", "/v1/proximity/sharing", needs: .operate,
            .init(
                "Stop offering the session; if the settings always share it, until the next login",
                answer: Self.sharingSchema)
        ) { request in
            await self.nearby.stopSharing(by: .user(UserName.of(request.peer.uid)))
            return .json(["sharing": false])
        }
        router.on(
            "POST", "/v1/proximity/pairing", needs: .operate,
            .init(
                "Let devices nearby pair for a while, if the settings let only bonded ones ask",
                body: ["seconds": .integer("how long; 60 by default", in: 1...300)],
                answer: .object(all: ["seconds": .integer("how long")]))
        ) { request in
            let seconds = try RequestBody(request).integer("seconds", in: 1...300, default: 60)
            try await self.nearby.sharing.openPairing(for: .seconds(seconds))
            return .json(["seconds": .integer(Int64(seconds))])
        }
        router.on(
            "POST", "/v1/proximity/authorizations", needs: .operate,
            .init(
                "Let in the device whose QR code was scanned; answers when consent has been given or refused",
                body: [
                    "text": Schema.string("content of the code").asSensitive,
                    "name": .string("name of the device, shown to the person who is asked"),
                ],
                required: ["text"],
                answer: .object(all: ["authorized": .boolean("true")]))
        ) { request in
            let body = RequestBody(request)
            try await self.nearby.authorize(
                scanned: try body.string("text"), name: try body.optionalString("name"),
                by: try await self.gateways.activeLink().session)
            return .json(["authorized": true])
        }
        router.on(
            "GET", "/v1/proximity/consents", needs: .read,
            .init("Questions that wait for consent", answer: .object(all: ["consents": .consents]))
        ) { _ in
            .json(["consents": .array(await self.nearby.desk.pending.map { .object($0.details) })])
        }
        router.on(
            "POST", "/v1/proximity/consents/{id}", needs: .operate,
            .init(
                "Answer a question; the first answer counts", path: ["id": .integer("number of the question")],
                body: [
                    "grant": .boolean("true: consent; false: refuse"),
                    "program": .string(
                        "program that answers on its own, such as a PIN pad; missing if a person answers"),
                ],
                required: ["grant"],
                answer: .object(all: ["id": .integer("number of the question"), "granted": .boolean("the answer")])
            )
        ) { request in
            let body = RequestBody(request)
            let grant = try body.bool("grant")
            guard let id = Int(request.parameters["id"] ?? "") else {
                throw AgentError.badRequest(member: "the number of the question", fault: "is not a number")
            }
            let answerer = request.answerer(program: try body.optionalString("program"))
            try await self.nearby.desk.answer(id, grant: grant, by: answerer)
            return .json(["id": .integer(Int64(id)), "granted": .bool(grant)])
        }
    }

    private static var sharingSchema: Schema {
        .object(all: ["sharing": .boolean("whether the session is offered now")])
    }
}

extension Schema {
    fileprivate static var auditRecord: Schema {
        .named(
            "AuditRecord",
            .object(
                Prompt.requester.merging([
                    "id": .integer("number of the question"), "time": .time("when it was answered"),
                    "decision": .string("the decision on the question"),
                    "by": .string("who answered").orNull,
                    "outcome": .string(
                        """
                        failed: consent was given, but the gateway refused; unknown: consent was given, and the \
                        gateway has not answered, or the agent ended before it did
                        """,
                        choices: ["authorized", "failed", "refused", "unknown"]),
                    "code": .string("code of the failure"),
                    "user": .string("user in whose name consent was given").orNull,
                ]) { _, new in new }, required: ["name", "address", "way", "id", "time", "decision", "by", "outcome"]))
    }
}
