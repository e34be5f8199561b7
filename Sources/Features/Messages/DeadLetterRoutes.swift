import AgentCore
import FoundationEssentials
import Groundwork
import LocalAPI
import Messaging

/// Dead letters: messages that make the broker end the connection.
extension MessagesFeature {
    package func addDeadLetterRoutes(to router: inout Router) {
        let id: [String: Schema] = ["id": .integer("number of the dead letter", in: 1...Int64.max)]
        let letter = Schema.object(
            [
                "id": .integer("number of the message"), "topic": .string("the whole topic"),
                "bytes": .integer("length of the payload, in bytes"), "acceptedAt": .time("when it was accepted"),
                "diedAt": .time("when it was given up"), "reason": .string("why it is no longer sent"),
                "payload": .base64("the message; only when one is asked for"),
            ],
            required: ["id", "topic", "bytes", "acceptedAt", "diedAt", "reason"])
        router.on(
            "GET", "/v1/dead-letters", needs: .read,
            .init(
                "Messages that are no longer sent, because the broker ended the connection on each of them",
                answer: .object(["deadLetters": .array(of: letter, "the oldest first")], required: ["deadLetters"]))
        ) { _ in
            let letters = try await self.broker.activeStation().outbox.deadLetters()
            return .json(["deadLetters": .array(letters.map { .object($0.report) })])
        }
        router.on(
            "GET", "/v1/dead-letters/{id}", needs: .read,
            .init("One dead letter, with its payload", path: id, answer: letter)
        ) {
            request in
            let outbox = try await self.broker.activeStation().outbox
            let id = try request.deadLetterID()
            let payload = try await outbox.payload(ofDeadLetter: id)
            guard let letter = await outbox.deadLetters().first(where: { $0.id == id }) else {
                throw MessagingError.noSuchDeadLetter(id)
            }
            return .json(.object(letter.report.merging(["payload": .string(Base64.encode(payload))]) { $1 }))
        }
        router.on(
            "POST", "/v1/dead-letters/{id}/retry", needs: .operate,
            .init(
                "Send it again, as a new message after all that are waiting", path: id, status: 202,
                answer: .object(["id": .integer("the new number of the message")], required: ["id"]))
        ) { request in
            let new = try await self.broker.activeStation().outbox.retryDeadLetter(try request.deadLetterID())
            return .json(["id": .integer(new)], status: 202)
        }
        router.on(
            "DELETE", "/v1/dead-letters/{id}", needs: .operate,
            .init(
                "Delete it for good", path: id,
                answer: .object(["removed": .integer("its number")], required: ["removed"]))
        ) { request in
            let id = try request.deadLetterID()
            try await self.broker.activeStation().outbox.removeDeadLetter(id)
            return .json(["removed": .integer(id)])
        }
    }
}

extension LocalRequest {
    fileprivate func deadLetterID() throws(AgentError) -> Int64 {
        guard let id = parameters["id"].flatMap({ Int64($0) }) else {
            throw .badRequest(member: "the dead letter", fault: "is not a number")
        }
        return id
    }
}

extension DeadLetter {
    fileprivate var report: [String: JSON] {
        [
            "id": .integer(id), "topic": .string(topic.name), "bytes": .integer(Int64(bytes)),
            "acceptedAt": .string(acceptedAt.formatted(.iso8601)), "diedAt": .string(diedAt.formatted(.iso8601)),
            "reason": .string(reason),
        ]
    }
}
