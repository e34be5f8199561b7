import AgentCore
import AgentGateway
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Messaging

/// Sending messages in envelopes (MAG 9.2, 9.3).
extension MessagesFeature {
    package func addSendRoutes(to router: inout Router) {
        for speaker in Speaker.allCases {
            router.on(
                "POST", "\(speaker.path)/send", needs: speaker.needs(.publish),
                .init(
                    "Send a message\(speaker.suffix) in an envelope; when the answer comes, \(speaker.keeper)",
                    body: Self.sendMembers, required: ["payload"], status: 202, answer: .accepted)
            ) { request in
                let body = RequestBody(request)
                return .json(
                    try await self.send(body, for: request, at: try await self.broker.brokerSession(of: speaker)),
                    status: 202
                )
            }
        }
    }

    private static var sendMembers: [String: Schema] {
        [
            "user": .string("the receiver: a user, by the name that the gateway has"),
            "device": .string("the receiver: a device, by its identifier"),
            "group": .string("the receiver: a group, by its identifier"),
            "application": .boolean("the receiver: true for every client of this application"),
            "members": .array(
                of: .string("the name of a user"),
                "members of the group, at most \(memberLimit): each gets the message; default: the group's topic"
            ),
            "acrossApplications": .boolean("whether a user gets it in any application, not in this one"),
            "topic": .string("topic below the receiver's own; the receiver's identifier by default"),
            "payload": .string("the message"), "encoding": .payloadEncoding,
            "contentType": .string("a MIME type; text/plain by default"),
            "qos": .integer("quality of service; 2 by default, which is treated as 1", in: 0...2),
            "retain": .boolean("whether the broker keeps it for later subscribers"),
            "sender": .string(
                "sender in the envelope; by default the device or user whose connection it is",
                choices: SenderChoice.allCases.map(\.rawValue)),
            "senderGroup": .string("identifier of the group, if the sender is a group"),
        ]
    }

    private static let memberLimit = 100

    private func send(_ body: RequestBody, for request: LocalRequest, at brokerSession: BrokerSession) async throws
        -> JSON
    {
        let receiver = try await self.receiver(in: body)
        let topics = try brokerSession.topics.topics(of: receiver, try body.optionalString("topic"))
        for topic in topics { try brokerSession.checkReserved(topic, for: request) }
        let sender = try await self.sender(in: body, at: brokerSession)
        let envelope = Envelope(
            from: sender.id, sender.type, displayName: sender.name, sentAt: host.time.now,
            contentType: try ContentType.checked(try body.optionalString("contentType") ?? "text/plain"),
            payload: try body.payload("payload"))
        let payload = try envelope.encode()
        let qos = QoS(requested: Int(try body.integer("qos", in: 0...2, default: 2))) ?? .atLeastOnce
        let retain = try body.bool("retain", default: false)
        let messages = topics.map {
            OutgoingMessage(topic: $0, payload: payload, qos: qos, retain: retain, publisher: request.publisher)
        }
        let numbers: [Int64]
        do {
            numbers = try await brokerSession.outbox.accept(messages)
        } catch {
            for topic in topics {
                report(.notSent(MessageSummary(envelope, topic: topic.name), error), at: brokerSession)
            }
            throw brokerSession.refusal(error)
        }
        for topic in topics { report(.sent(MessageSummary(envelope, topic: topic.name)), at: brokerSession) }
        var answer: [String: JSON] = [:]
        answer["id"] = numbers.first.map { .integer($0) }
        answer["topic"] = topics.first.map { .string($0.name) }
        if numbers.count > 1 { answer["count"] = .integer(Int64(numbers.count)) }
        return .object(answer)
    }

    private func report(_ event: MessageEvent, at brokerSession: BrokerSession) {
        host.report(event, of: broker.account, over: brokerSession.user == nil ? .board : .user)
    }

    // MARK: Receiver

    private func receiver(in body: RequestBody) async throws -> Receiver {
        let members = try body.members(limit: Self.memberLimit)
        let isAcross = try body.bool("acrossApplications", default: false)
        let (user, group) = (try body.optionalString("user"), try body.optionalString("group"))
        guard members == nil || group != nil else {
            throw AgentError.badRequest(member: "members", fault: "requires group")
        }
        guard !isAcross || user != nil else {
            throw AgentError.badRequest(member: "acrossApplications", fault: "requires user")
        }
        var receivers: [Receiver] = []
        if let user { receivers.append(isAcross ? .userAcrossApplications(user) : .user(user)) }
        if let group { receivers.append(.group(group, members: members ?? [])) }
        if let device = try body.optionalString("device") { receivers.append(.device(device)) }
        if try body.bool("application", default: false) {
            receivers.append(.application(try await gateways.account(broker.account).gateway.masterClientID))
        }
        guard receivers.count == 1 else {
            throw AgentError.badRequest(
                member: "the receiver", fault: "must be exactly one of user, device, group and application")
        }
        return receivers[0]
    }

    // MARK: Sender

    private enum SenderChoice: String, CaseIterable { case device, user, group, application }

    /// Whom the envelope names; it is not verified on the way.
    private func sender(
        in body: RequestBody, at brokerSession: BrokerSession
    ) async throws -> (id: String, type: Envelope.SenderType, name: String) {
        let name = try body.optionalString("sender") ?? (brokerSession.user == nil ? "device" : "user")
        let group = try body.optionalString("senderGroup")
        guard (name == SenderChoice.group.rawValue) == (group != nil) else {
            throw AgentError.badRequest(
                member: "senderGroup", fault: "is required with the sender group, and not allowed otherwise")
        }
        switch SenderChoice(rawValue: name) {
        case .device: return (brokerSession.topics.deviceID, .device, host.deviceName)
        case .user:
            guard let user = brokerSession.topics.userID else {
                throw AgentError.badRequest(
                    member: "sender", fault: "cannot be user except at the user's own connection")
            }
            return (user, .user, user)
        case .group:
            let group = group ?? ""
            _ = try brokerSession.topics.topics(of: .group(group, members: []))
            return (group, .group, group)
        case .application:
            let client = try await gateways.account(broker.account).gateway.masterClientID
            return (client, .application, client)
        case nil:
            throw AgentError.badRequest(member: "sender", fault: "is not one of device, user, group, application")
        }
    }
}

extension RequestBody {
    /// The names of a group's members; `nil` if none are given.
    fileprivate func members(limit: Int) throws(AgentError) -> [String]? {
        guard let list = self["members"], list != .null else { return nil }
        guard let elements = list.array, (1...limit).contains(elements.count) else {
            throw .badRequest(member: "members", fault: "is not a list of 1 to \(limit) names")
        }
        var names: [String] = []
        for element in elements {
            guard let name = element.string else {
                throw .badRequest(member: "members", fault: "contains something that is not a name")
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
