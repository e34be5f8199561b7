import Foundation
import Groundwork
import Messaging
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages
@testable import LocalAPI

@Suite("Messages as events")
struct MessageEncoderTests {
    private static let own = "/2.0/client/devices/d1/custom/"
    private let topics: TopicNamespace

    init() throws { topics = try TopicNamespace(prefix: "", deviceID: "d1") }

    private func message(
        _ payload: [UInt8], topic: String = own + "a", at seconds: Double = 0, retained: Bool = false
    ) -> IncomingMessage {
        IncomingMessage(
            topic: topic, payload: payload, qos: .atLeastOnce, retained: retained,
            receivedAt: Date(timeIntervalSince1970: seconds))
    }

    /// The message by way of a JSON value.
    private func event(_ message: IncomingMessage) -> LocalEvent {
        let envelope = message.envelope
        let content = envelope?.payload ?? message.payload
        var members: [String: JSON] = [
            "topic": .string(message.topic), "bytes": .integer(Int64(content.count)),
            "qos": .integer(Int64(message.qos.rawValue)), "retained": .bool(message.retained),
            "receivedAt": .string(message.receivedAt.formatted(.iso8601)),
        ]
        if message.topic.hasPrefix(Self.own), message.topic.utf8.count > Self.own.utf8.count {
            members["ownTopic"] = .string(String(message.topic.dropFirst(Self.own.count)))
        }
        if let text = String(validating: content, as: UTF8.self) {
            members["text"] = .string(text)
        } else {
            members["payload"] = .string(Data(content).base64EncodedString())
        }
        if let envelope {
            var claims: [String: JSON] = [
                "contentType": .string(envelope.contentType), "senderType": .string(envelope.senderType),
            ]
            claims["sentAt"] = envelope.sentAt.map { .string($0.formatted(.iso8601)) }
            claims["senderID"] = envelope.senderID.map { .string($0) }
            claims["displayName"] = envelope.displayName.map { .string($0) }
            members["envelope"] = .object(claims)
        }
        return LocalEvent(name: "message", data: .object(members))
    }

    private func written(_ message: IncomingMessage, by encoder: MessageEncoder, as form: StreamForm) -> [UInt8] {
        var output: [UInt8] = []
        encoder.write(message, as: form, to: &output)
        return output
    }

    private static let payloads: [[UInt8]] = [
        [], [0], Array(0...0x7F), Array(0x80...0xFF), [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xE2, 0x82], Array("\u{2028}\u{85}\u{7F}é\u{1F511}\u{FFFF}".utf8), Array(#"\u0041"quoted"\"#.utf8),
        Array("line\r\nline\n".utf8), [UInt8](repeating: 0x01, count: 70_000), [UInt8](repeating: 0xFF, count: 70_001),
        Array(#"{"SenderId":"bob","SentTime":1767225600000,"Payload":"aGk=","DisplayName":"B\nob"}"#.utf8),
        Array(#"{"SentTime":1,"Payload":"/w=="}"#.utf8), Array(#"{"\u0053entTime":1,"Payload":"aGk="}"#.utf8),
        Array(#"{"SenderId":"bob","Payload":"aGk="}"#.utf8), Array(#"{"SentTime":1,"Payload":"not base64!"}"#.utf8),
        Array(#"{"temperature":21.5}"#.utf8),
    ]
    private static let names = [
        own + "a", own + "ä/\u{1F511}\"\\", own, own + "e\u{301}", "/2.0/client/devices/d2/custom/a", "x",
        String(repeating: "long/", count: 190), "#odd\u{7F}\u{1}",
    ]

    @Test("messages are encoded to the JSON encoder's bytes for every payload and topic, for one reader or several")
    func equality() {
        let encoder = MessageEncoder(topics)
        var (generator, number) = (SystemRandomNumberGenerator(), 0)
        let random = (0..<500).map { round in
            (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                // Half of them are short of what is not ASCII, so that many are valid.
                UInt8.random(in: 0...(round.isMultiple(of: 2) ? 0x7F : 0xFF), using: &generator)
            }
        }
        for payload in Self.payloads + random {
            for topic in Self.names {
                number += 1
                var message = message(
                    payload, topic: topic, at: Double(number) * 0.37 - 100, retained: number.isMultiple(of: 2))
                message.number = number
                message.isShared = number.isMultiple(of: 3)
                for form in [StreamForm.lines, .serverSent] {
                    let expected = form.bytes(of: event(message))
                    #expect(written(message, by: encoder, as: form) == expected, "\(payload) \(topic)")
                    #expect(written(message, by: encoder, as: form) == expected, "\(payload) \(topic)")
                }
            }
        }
    }

    @Test("messages as events have their content once, and name what it is")
    func content() throws {
        let encoder = MessageEncoder(topics)
        let text = try JSON(parsing: written(message(Array("open".utf8)), by: encoder, as: .lines))
        #expect(text["data"]?["text"] == "open" && text["data"]?["payload"] == nil)
        let binary = try JSON(parsing: written(message([0xFF]), by: encoder, as: .lines))
        #expect(binary["data"]?["payload"] == "/w==" && binary["data"]?["text"] == nil)
    }

    @Test("messages in frames are bare bytes, without their envelope", arguments: Self.payloads)
    func frames(payload: [UInt8]) throws {
        var splitter = FrameSplitter()
        let message = message(payload)
        let stream = written(message, by: MessageEncoder(topics), as: .frames)
        let contents = try splitter.add(stream + stream).map { Array($0.dropFirst(StreamForm.frameHead)) }
        #expect(contents == [message.envelope?.payload ?? payload].repeated(2))
    }

    @Test(
        "messages are encoded once for several readers, and kept only so long as they are few",
        arguments: StreamForm.all)
    func once(form: StreamForm) {
        let encoder = MessageEncoder(topics)
        var first = message(Array("first".utf8))
        (first.number, first.isShared) = (1, true)
        let bytes = written(first, by: encoder, as: form)
        // What its number stands for: nothing is encoded again.
        var other = message(Array("other".utf8))
        (other.number, other.isShared) = (1, true)
        #expect(written(other, by: encoder, as: form) == bytes)
        for number in 2...20 {
            var large = message([UInt8](repeating: 0x61, count: 100_000))
            (large.number, large.isShared) = (number, true)
            _ = written(large, by: encoder, as: form)
        }
        #expect(written(other, by: encoder, as: form) != bytes)
    }
}

extension Array {
    fileprivate func repeated(_ count: Int) -> [Element] { (0..<count).flatMap { _ in self } }
}
