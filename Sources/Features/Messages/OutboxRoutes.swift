import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Waiting for the broker to have everything.
extension MessagesFeature {
    package func addOutboxRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/outbox/empty", needs: .read,
            .init(
                "Answers once no message is waiting for the broker",
                answer: .object(all: ["delivered": .integer("messages so far")]))
        ) { _ in
            let outbox = try await self.broker.activeBrokerSession().outbox
            // Before the depth is read: the last message may go at any time.
            let emptied = outbox.emptied.subscribe(bound: 1)
            if await outbox.status().depth > 0 { for await _ in emptied { break } }
            try Task.checkCancellation()
            return .json(["delivered": .integer(Int64(await outbox.status().delivered))])
        }
    }
}
