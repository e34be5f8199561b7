import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Inboxes that are added and removed while the agent runs.
extension InboxFeature {
    package func addInboxManagement(to router: inout Router) {
        router.on(
            "POST", "/v1/inbox", needs: .operate,
            .init(
                "Add an inbox, until it is removed or the board's registration ends",
                body: [
                    "name": .string("lower-case letters, digits and hyphens, at most 32"),
                    "filter": .string("topic filter below the device's own, unless raw is true"),
                    "raw": .boolean("the filter matches whole topics"), "qos": .quality,
                    "limitBytes": .integer(
                        "beyond the limits the oldest messages are dropped; 16 MiB by default", in: 65_536...1 << 32),
                    "limitMessages": .integer("10,000 by default", in: 1...1_000_000),
                    "maxAgeHours": .integer("720 by default", in: 1...87_600),
                    "retained": .boolean("whether to take messages that the broker had retained before, too"),
                ], required: ["name", "filter"],
                answer: .object(all: [
                    "changed": .boolean("false: the same inbox already exists"),
                    "filter": .string("the filter for whole topics"),
                ]))
        ) { request in
            let body = RequestBody(request)
            _ = try await self.broker.activeBrokerSession()
            guard let keeper = await self.broker.keeper else { throw AgentError.subscriptionEnded }
            let (brokerSession, inboxes) = try await keeper.stationWithInboxes()
            let policy = try InboxPolicy(body, at: brokerSession)
            let changed = try await inboxes.add(policy)
            if changed {
                do {
                    try await brokerSession.messenger.begin(policy)
                } catch {
                    // The broker refuses it: such an inbox would stay empty.
                    _ = try await inboxes.remove(policy.name)
                    throw error
                }
            }
            return .json(["changed": .bool(changed), "filter": .string(policy.filter.text)])
        }
        router.on(
            "DELETE", "/v1/inbox/{name}", needs: .operate,
            .init(
                "Remove an added inbox with all of its messages; for an inbox of the settings, only its messages",
                answer: .object(all: [
                    "removed": .integer("number of removed messages"),
                    "ended": .boolean("whether the inbox itself was removed"),
                ]))
        ) { request in
            let name = request.parameters["name"] ?? ""
            let inboxes = try await self.broker.activeInboxes(naming: name)
            if let (messages, inbox) = try await inboxes.remove(name) {
                try await self.broker.activeBrokerSession().messenger.end(inbox)
                return .json(["removed": .integer(Int64(messages)), "ended": true])
            }
            return .json(["removed": .integer(Int64(try await inboxes.removeAll(of: name))), "ended": false])
        }
    }
}

extension InboxPolicy {
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `MessagingError.invalidFilter`
    fileprivate init(_ body: RequestBody, at brokerSession: BrokerSession) throws {
        let name = try body.string("name")
        guard AccountName(name) != nil else {
            throw AgentError.badRequest(
                member: "name", fault: "is not a name: use lower-case letters, digits and hyphens, at most 32")
        }
        let filter = try body.string("filter")
        self.init(
            name: name,
            filter: try body.bool("raw", default: false)
                ? TopicFilter(filter) : brokerSession.topics.custom(filter: filter),
            qos: QoS(requested: Int(try body.integer("qos", in: 0...2, default: 1))) ?? .atLeastOnce,
            limitBytes: Int(try body.integer("limitBytes", in: 65_536...(1 << 32), default: 16 << 20)),
            limitMessages: Int(try body.integer("limitMessages", in: 1...1_000_000, default: 10_000)),
            maxAge: .seconds(try body.integer("maxAgeHours", in: 1...87_600, default: 720) * 3600),
            takesRetained: try body.bool("retained", default: false))
    }
}
