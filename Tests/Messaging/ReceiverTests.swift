import Cryptography
import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("Receivers, content types and numbers of messages")
struct ReceiverTests {
    @Test(
        "receivers have the topics of MAG 9.2, and their own identifier as the default",
        arguments: [
            (Receiver.user("bob"), nil, ["/2.0/client/users/bob/custom/bob"]),
            (.user("bob"), "x", ["/2.0/client/users/bob/custom/x"]),
            (.userAcrossApplications("bob"), nil, ["/2.0/users/bob/custom/bob"]),
            (.device("d2"), nil, ["/2.0/client/devices/d2/custom/d2"]),
            (.group("g", members: []), nil, ["/2.0/client/groups/g/custom/g"]),
            (
                .group("g", members: ["a", "b"]), nil,
                ["/2.0/client/users/a/custom/a", "/2.0/client/users/b/custom/b"]
            ),
            (.group("g", members: ["a"]), "x", ["/2.0/client/users/a/custom/x"]),
            (.application("app"), nil, ["/2.0/client/custom/app"]),
            (.application("app"), "x", ["/2.0/client/custom/x"]),
        ])
    func topics(receiver: Receiver, topic: String?, topics: [String]) throws {
        let board = try TopicNamespace(prefix: "", deviceID: "d1")
        #expect(try board.topics(of: receiver, topic).map(\.name) == topics)
        let user = try TopicNamespace(prefix: "", deviceID: "d1", userID: "alice")
        #expect(try user.topics(of: receiver, topic).map(\.name) == topics)
        #expect(user.ofDevice == board)
    }

    @Test("receivers cannot name others' topics", arguments: ["a/b", "+", "", "a#"])
    func invalid(_ id: String) throws {
        let topics = try TopicNamespace(prefix: "", deviceID: "d1")
        for receiver in [
            Receiver.user(id), .userAcrossApplications(id), .device(id), .group(id, members: []),
            .group("g", members: [id]),
        ] {
            let error = #expect(throws: MessagingError.self) { try topics.topics(of: receiver) }
            #expect(error?.code == "messaging.invalid-receiver")
        }
    }

    @Test(
        "content types are two names with a slash between",
        arguments: [
            ("text/plain", true), ("image/svg+xml", true), ("text/plain; charset=utf-8", true), ("text", false),
            ("text/", false), ("/plain", false), ("a/b/c", false), ("text/pl ain\n", false), ("", false),
            ("té/x", false),
        ])
    func contentTypes(text: String, isValid: Bool) {
        #expect(((try? ContentType.checked(text)) != nil) == isValid)
    }

    @Test("errors of messages have the numbers of MAG 9.5")
    func numbers() throws {
        let broker = BrokerAddress(host: "h")
        for (error, number) in [
            (MessagingError.invalidContentType("x"), 500_001), (.invalidReceiver("a/b", .severalLevels), 500_002),
            (.invalidTopic("#", .wildcard), 500_003), (.invalidFilter("a#", .misplacedWildcard), 500_003),
            (.emptyPayload, 500_003), (.cannotConnect(broker, reason: "r"), 511_001),
            (.tlsRefused(broker, .pinMismatch), 511_001), (.tlsFailed(broker, reason: "r"), 511_001),
            (.connectTimeout(broker, .seconds(1)), 511_001), (.refused(broker, .notAuthorized), 511_001),
            (.subscriptionRefused(try TopicFilter("a")), 511_002), (.userUnusable(name: "a/b"), 530_003),
            (.userRequired, 530_004),
        ] {
            #expect(error.explanation.gateway == GatewayNumbers(.messaging, number))
        }
    }
}

@Suite("Events of messages", .timeLimit(.minutes(5)))
struct MessageEventTests {
    private let time = Date(timeIntervalSince1970: 1_767_225_600)

    private func incoming(_ payload: [UInt8], at topic: String = "t") -> IncomingMessage {
        IncomingMessage(topic: topic, payload: payload, qos: .atLeastOnce, retained: false, receivedAt: time)
    }

    private func envelope(_ sender: String = "alice") throws -> [UInt8] {
        try Envelope(from: sender, .user, sentAt: time, contentType: "image/png", payload: [1, 2, 3]).encode()
    }

    @Test("a message in an envelope that somebody reads is reported without its content, others are not")
    func received() async throws {
        let inbox = Inbox(payloadLimit: 1000)
        var events = inbox.events.subscribe().makeAsyncIterator()
        let subscription = inbox.subscribe(try TopicFilter("t"), qos: .atLeastOnce, bound: 10) {}
        inbox.deliver([incoming(try envelope(), at: "nobody/reads")])
        inbox.deliver([incoming(Array("raw".utf8)), incoming(try envelope("a\nb"))])
        let report = try #require(await events.next()).report
        #expect(report.name == "message.received" && report.severity == .routine)
        #expect(
            report.fields == [
                "topic": "t", "senderID": "a b", "senderType": "USER", "contentType": "image/png", "bytes": 3,
            ])
        #expect(report.message?.contains("\n") == false)
        subscription.finish()
    }

    @Test("of many messages that come together, the first are reported, and the number of the others")
    func many() async throws {
        let inbox = Inbox(payloadLimit: 1000)
        let events = inbox.events.subscribe()
        let subscription = inbox.subscribe(try TopicFilter("t"), qos: .atLeastOnce, bound: 100) {}
        inbox.deliver(Array(repeating: incoming(try envelope()), count: 100))
        inbox.events.finish()
        var more: [Int64?] = []
        for await event in events { more.append(event.report.fields["more"]?.integer) }
        #expect(more == Array(repeating: nil, count: 7) + [92])
        subscription.finish()
    }

    @Test(
        "the broker's error is reported from whichever topic that ends in error, on one line and shortened",
        arguments: [
            (#"{"message":"not\nyours"}"#, "not yours"), ("plain text", "plain text"),
            (#"{"other":1}"#, #"{"other":1}"#),
            (String(repeating: "x", count: 10_000), String(repeating: "x", count: 256)),
        ])
    func brokerError(payload: String, text: String) async throws {
        let inbox = Inbox(payloadLimit: 1 << 20)
        var events = inbox.events.subscribe().makeAsyncIterator()
        inbox.deliver([incoming(Array(payload.utf8), at: "/2.0/client/users/a/custom/error")])
        #expect(await events.next() == .brokerReported(topic: "/2.0/client/users/a/custom/error", text: text))
    }
}
