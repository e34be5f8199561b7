import AgentCore
import FoundationEssentials
import Groundwork
import LocalAPI
import Messaging
import Synchronization

/// Encodes messages for the streams of local programs: each once, whatever the number of its readers.
///
/// Written straight into bytes, with the members in the order that ``JSON/bytes`` has: this is done for every message.
package final class MessageEncoder: Sendable {
    /// Encodings for several readers are kept until newer ones have this many bytes. A reader that is further behind
    /// encodes again.
    private static let keptBytes = 256 << 10
    /// The memory of an encoding beside its bytes; there may be none.
    private static let entryBytes = 128

    private struct State {
        /// The newest encodings, and those before them, by the number of the message: negative for frames.
        var new: [Int: [UInt8]] = [:]
        var old: [Int: [UInt8]] = [:]
        var newBytes = 0
        /// What messages have in common with the one before them, encoded.
        var topic = (name: "", text: [UInt8](), ownText: [UInt8]())
        var second = (number: Double.nan, text: [UInt8]())
    }
    private let state = Mutex(State())
    private let topics: TopicNamespace?

    /// - Parameter topics: the device's own; a topic below them is also shown by the name that programs use.
    package init(_ topics: TopicNamespace?) { self.topics = topics }

    /// Appends the message as an event.
    package func write(_ message: IncomingMessage, as form: StreamForm, to output: inout [UInt8]) {
        let isFrame = form == .frames
        guard message.isShared else {
            if isFrame { return StreamForm.write(frame: message.content, to: &output) }
            return form.write("message", to: &output) { output in
                state.withLock { write(message, to: &output, &$0) }
            }
        }
        let encoded = state.withLock { state in
            let key = isFrame ? -message.number : message.number
            if let known = state.new[key] ?? state.old[key] { return known }
            let encoded = isFrame ? message.content : json(of: message, &state)
            state.newBytes += encoded.count + Self.entryBytes
            state.new[key] = encoded
            if state.newBytes > Self.keptBytes { (state.old, state.new, state.newBytes) = (state.new, [:], 0) }
            return encoded
        }
        if isFrame {
            StreamForm.write(frame: encoded, to: &output)
        } else {
            form.write("message", data: encoded, to: &output)
        }
    }

    /// The members of a message of an inbox, with its number.
    package func bytes(of kept: KeptMessage) -> [UInt8] {
        let encoded = state.withLock { json(of: kept.message, &$0) }
        return Array(#"{"id":\#(kept.id),"#.utf8) + encoded.dropFirst()
    }

    private func json(of message: IncomingMessage, _ state: inout State) -> [UInt8] {
        var output: [UInt8] = []
        write(message, to: &output, &state)
        return output
    }

    private func write(_ message: IncomingMessage, to output: inout [UInt8], _ state: inout State) {
        let envelope = message.envelope
        let content = envelope?.payload ?? message.payload
        let text = String(validating: content, as: UTF8.self)
        output += #"{"bytes":"#.utf8
        output += String(content.count).utf8
        if let envelope {
            output += #","envelope":"#.utf8
            output += envelope.json.bytes
        }
        if state.topic.name != message.topic { state.topic = encoded(message.topic) }
        output += state.topic.ownText
        if text == nil {
            output += #","payload":""#.utf8
            output += Base64.encode(content).utf8
            output.append(UInt8(ascii: "\""))
        }
        let second = message.receivedAt.timeIntervalSince1970.rounded(.down)
        if state.second.number != second {
            state.second = (second, Array(message.receivedAt.formatted(.iso8601).utf8))
        }
        output += #","qos":"#.utf8
        output += String(message.qos.rawValue).utf8
        output += #","receivedAt":""#.utf8
        output += state.second.text
        output += (message.retained ? #"","retained":true"# : #"","retained":false"#).utf8
        if let text {
            output += #","text":"#.utf8
            JSON.write(text, to: &output)
        }
        output += state.topic.text
    }

    /// The last member of a message, and the one that not every message has.
    private func encoded(_ topic: String) -> (name: String, text: [UInt8], ownText: [UInt8]) {
        var (text, ownText) = (Array(#","topic":"#.utf8), [UInt8]())
        JSON.write(topic, to: &text)
        text.append(UInt8(ascii: "}"))
        if let own = topics?.shortened(topic) {
            ownText += #","ownTopic":"#.utf8
            JSON.write(own, to: &ownText)
        }
        return (topic, text, ownText)
    }
}

extension Envelope: Answered {
    package static let answer: Answer<Envelope> = [
        "contentType": .of("a MIME type") { $0.contentType },
        "senderType": .of("the sender's own claim") { $0.senderType },
        "senderID": .of("the sender's own claim") { $0.senderID },
        "displayName": .of("the sender's own claim") { $0.displayName },
        "sentAt": .of("when it was sent, by the sender's clock") { $0.sentAt },
    ]
}
