import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Messages of standing subscriptions, which wait until a program has read and acknowledged them.
extension InboxFeature {
    package func addInboxRoutes(to router: inout Router) {
        let after: [String: Schema] = [
            "after": .integer("number of a message: only later ones", in: 0...Int64.max)
        ]
        let limit: [String: Schema] = ["limit": .integer("maximum number of messages; 100 by default", in: 1...1000)]
        router.on(
            "GET", "/v1/inbox", needs: .read,
            .init(
                "The inboxes, and how many messages wait in each",
                answer: .object(all: ["inboxes": .array(of: .inbox, "including those of actions")]))
        ) { _ in
            let statuses = try await self.broker.activeBrokerSession().inboxes?.statuses() ?? []
            return .json(["inboxes": .array(statuses.map(\.json))])
        }
        addInboxManagement(to: &router)
        router.on(
            "GET", "/v1/inbox/{name}", needs: .read,
            .init(
                "The oldest unacknowledged messages of an inbox, at most 256 KiB or one message",
                query: after.merging(limit) { own, _ in own },
                answer: .object(all: ["messages": .array(of: .keptMessage, "the oldest first")]))
        ) { request in
            let name = request.parameters["name"] ?? ""
            let brokerSession = try await self.broker.activeBrokerSession()
            guard let inboxes = brokerSession.inboxes else { throw MessagingError.noSuchInbox(name) }
            let messages = try await inboxes.page(
                of: name, after: try request.integer("after", in: 0...Int64.max, default: 0),
                limit: Int(try request.integer("limit", in: 1...1000, default: 100)))
            let encoder = brokerSession.subscriptions.encoder(for: brokerSession.topics)
            return .json([
                "messages": .array(try messages.map { try JSON(parsing: encoder.bytes(of: $0), limit: .max) })
            ])
        }
        router.on(
            "GET", "/v1/inbox/{name}/stream", needs: .read,
            .init(
                "The unacknowledged messages of an inbox, the oldest first, then each as it arrives",
                query: after, events: ["message": .keptMessage])
        ) { request in
            let name = request.parameters["name"] ?? ""
            let brokerSession = try await self.broker.activeBrokerSession()
            guard let inboxes = brokerSession.inboxes else { throw MessagingError.noSuchInbox(name) }
            let begin = try request.integer("after", in: 0...Int64.max, default: 0)
            // An inbox that is not there is refused before the stream begins.
            _ = try await inboxes.page(of: name, after: begin, limit: 1)
            let encoder = brokerSession.subscriptions.encoder(for: brokerSession.topics)
            return .stream {
                try await InboxStream(inboxes: inboxes, name: name, encoder: encoder).write(to: $0, begin)
            }
        }
        router.on(
            "POST", "/v1/inbox/{name}/acknowledge", needs: .publish,
            .init(
                "Remove messages that were read",
                body: [
                    "id": .integer("number of a message: removes it and all before it", in: 1...Int64.max),
                    "only": .boolean("it alone"),
                ], required: ["id"],
                answer: .object(all: ["removed": .integer("how many")]))
        ) { request in
            let name = request.parameters["name"] ?? ""
            let body = RequestBody(request)
            let id = try body.integer("id", in: 1...Int64.max, default: 0)
            guard id > 0 else { throw AgentError.badRequest(member: "id", fault: "is missing") }
            let removed = try await self.broker.activeInboxes(naming: name).acknowledge(
                id, alone: try body.bool("only", default: false), of: name)
            return .json(["removed": .integer(Int64(removed))])
        }
    }
}

/// The messages of one inbox as the events of a stream.
private struct InboxStream {
    let inboxes: InboxStore
    let name: String
    let encoder: MessageEncoder

    /// Until the reader is gone.
    ///
    /// - Throws: ``AgentError/subscriptionEnded`` when the board's registration ends.
    func write(to writer: StreamWriter, _ begin: Int64) async throws {
        // Before the first page is read, so that no arrival is missed.
        var arrivals = inboxes.arrivals.subscribe(bound: 64).makeAsyncIterator()
        var last = begin
        while !Task.isCancelled {
            let page = try await inboxes.page(of: name, after: last)
            guard let newest = page.last else {
                guard await arrivals.next() != nil else { break }
                continue
            }
            var output: [UInt8] = []
            for message in page { writer.form.write("message", data: encoder.bytes(of: message), to: &output) }
            guard await writer.send(output) else { return }
            last = newest.id
        }
        guard !Task.isCancelled else { return }
        throw AgentError.subscriptionEnded
    }
}

extension InboxStatus: Answered {
    package static let answer: Answer<InboxStatus> = [
        "name": .of("name of the inbox") { $0.name },
        "filter": .of("filter for whole topics; missing if the settings no longer contain the inbox") {
            $0.filter?.text
        },
        "added": .of("whether it was added while the agent ran; missing if it comes from the settings") {
            $0.isAdded ? true : nil
        },
        "unread": .of("unacknowledged messages") { $0.unread },
        "bytes": .of("size of its messages") { $0.bytes }, "dropped": .of("messages dropped so far") { $0.dropped },
        "dead": .of("messages that an action has given up") { $0.dead },
        "first": .of("number of the oldest message") { $0.first }, "last": .of("number of the newest") { $0.last },
        "oldest": .of("when the oldest message arrived") { $0.unread > 0 ? $0.oldest : nil },
    ]
}

extension Schema {
    package static var inbox: Schema { .named("Inbox", InboxStatus.schema()) }

    package static var keptMessage: Schema {
        .named(
            "KeptMessage",
            .object(
                messageMembers.merging(["id": .integer("its number: ascending, never reused")]) { own, _ in own },
                required: requiredOfMessage.union(["id"]), "With its content in text or in payload"))
    }
}
