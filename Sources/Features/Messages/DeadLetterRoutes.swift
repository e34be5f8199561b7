import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Dead letters: messages that make the broker end the connection.
extension MessagesFeature {
    package func addDeadLetterRoutes(to router: inout Router) {
        let id: [String: Schema] = ["id": .integer("number of the dead letter", in: 1...Int64.max)]
        let letter = DeadLetter.answer.schema()
        router.on(
            "GET", "/v1/dead-letters", needs: .read,
            .init(
                "Messages that are no longer sent, because the broker ended the connection on each of them",
                answer: .object(all: ["deadLetters": .array(of: letter, "the oldest first")]))
        ) { _ in
            let letters = try await self.broker.activeBrokerSession().outbox.deadLetters()
            return .json(["deadLetters": .array(letters.map { DeadLetter.answer.json(($0, nil)) })])
        }
        router.on(
            "GET", "/v1/dead-letters/{id}", needs: .read,
            .init("One dead letter, with its payload", path: id, answer: letter)
        ) {
            request in
            let outbox = try await self.broker.activeBrokerSession().outbox
            let id = try request.deadLetterID()
            let payload = try await outbox.payload(ofDeadLetter: id)
            guard let letter = await outbox.deadLetters().first(where: { $0.id == id }) else {
                throw MessagingError.noSuchDeadLetter(id)
            }
            return .json(DeadLetter.answer.json((letter, payload)))
        }
        router.on(
            "POST", "/v1/dead-letters/{id}/retry", needs: .operate,
            .init(
                "Send it again, as a new message after all that are waiting", path: id, status: 202,
                answer: .object(all: ["id": .integer("the new number of the message")]))
        ) { request in
            let new = try await self.broker.activeBrokerSession().outbox.retryDeadLetter(try request.deadLetterID())
            return .json(["id": .integer(new)], status: 202)
        }
        router.on(
            "DELETE", "/v1/dead-letters/{id}", needs: .operate,
            .init("Delete it for good", path: id, answer: .object(all: ["removed": .integer("its number")]))
        ) { request in
            let id = try request.deadLetterID()
            try await self.broker.activeBrokerSession().outbox.removeDeadLetter(id)
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
    fileprivate static let answer: Answer<(letter: DeadLetter, payload: [UInt8]?)> = [
        "id": .of("number of the message") { $0.letter.id },
        "topic": .of("the whole topic") { $0.letter.topic.name },
        "bytes": .of("length of the payload, in bytes") { $0.letter.bytes },
        "acceptedAt": .of("when it was accepted") { $0.letter.acceptedAt },
        "diedAt": .of("when it was given up") { $0.letter.diedAt },
        "reason": .of("why it is no longer sent") { $0.letter.reason },
        "payload": .schema(.base64("the message; only when one is asked for")) { $0.payload.map { Base64.encode($0) } },
    ]
}
