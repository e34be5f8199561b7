import FoundationEssentials

@testable import Messaging

extension FuzzTarget {
    static let messaging = [
        FuzzTarget(name: "topic") { bytes throws(Violation) in
            guard let topic = try? Topic(text(bytes)) else { return .refused }
            let name = topic.name.utf8
            try require((1...Topic.limit).contains(name.count), "a topic has 1 to \(Topic.limit) bytes")
            try require(
                !name.contains(0) && !name.contains(UInt8(ascii: "#")) && !name.contains(UInt8(ascii: "+")),
                "a topic has neither NUL nor wildcards")
            try require(TopicFilter(topic).matches(topic.name), "a topic matches itself")
            try require((try? TopicFilter(topic.name)) == TopicFilter(topic), "every topic is a filter")
            return .accepted
        },
        FuzzTarget(name: "topic-filter") { bytes throws(Violation) in
            // The first line is the filter, the rest a topic.
            let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let filter = try? TopicFilter(text(Array(parts[0]))) else { return .refused }
            let topic = parts.count > 1 ? text(Array(parts[1])) : ""
            guard filter.matches(topic) else { return .refused }
            try require(!topic.isEmpty, "nothing matches no topic")
            try require(
                !topic.hasPrefix("$") || filter.text.hasPrefix("$"),
                "a leading wildcard does not match topics that begin with $")
            return .accepted
        },
        FuzzTarget(name: "topic-namespace") { bytes throws(Violation) in
            // Lines: prefix, device, user, topic.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                text(Array($0))
            }
            guard lines.count == 4,
                let topics = try? TopicNamespace(
                    prefix: lines[0], deviceID: lines[1], userID: lines[2].isEmpty ? nil : lines[2]),
                let own = try? topics.ownFilter, let topic = try? topics.custom(lines[3])
            else { return .refused }
            try require(own.matches(topic.name), "a device's own topics are its own")
            try require(
                own.text.utf8.count { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "+") } == 1,
                "no identifier brings a wildcard")
            return .accepted
        },
        FuzzTarget(name: "envelope") { bytes throws(Violation) in
            guard let envelope = Envelope(decoding: bytes) else { return .refused }
            try require(!envelope.payload.isEmpty, "an envelope has a payload")
            guard let written = try? envelope.encode() else {
                throw Violation(description: "what was read can be written")
            }
            guard written.count <= Envelope.limit else { return .accepted }
            guard let again = Envelope(decoding: written) else {
                throw Violation(description: "what was written can be read")
            }
            try require(
                again.payload == envelope.payload && again.senderID == envelope.senderID
                    && again.topic == envelope.topic
                    && again.contentType == envelope.contentType && again.senderType == envelope.senderType,
                "an envelope that was written reads as the same")
            return .accepted
        },
        FuzzTarget(name: "broker-error") { bytes throws(Violation) in
            // The first line is the topic, the rest what the broker says there.
            let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            let message = IncomingMessage(
                topic: text(Array(parts[0])), payload: parts.count > 1 ? Array(parts[1]) : [], qos: .atMostOnce,
                retained: false, receivedAt: Date(timeIntervalSince1970: 0))
            guard case .brokerReported(let topic, let said)? = MessageEvent(reportedBy: message) else {
                return .refused
            }
            for shown in [topic, said] {
                try require(shown.unicodeScalars.count <= 256, "what is reported is short")
                try require(
                    !shown.unicodeScalars.contains { $0.properties.generalCategory == .control },
                    "what is reported is one line")
            }
            return .accepted
        },
        FuzzTarget(name: "content-type") { bytes throws(Violation) in
            guard let type = try? ContentType.checked(text(bytes)) else { return .refused }
            try require(type.utf8.count <= 255, "a content type is short")
            try require(type.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a content type is printable ASCII")
            try require(type.contains("/"), "a content type has two names")
            return .accepted
        },
        FuzzTarget(name: "outbox-records") { bytes throws(Violation) in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { buffer.deallocate() }
            buffer.copyBytes(from: bytes)
            var (records, state, next) = (OutboxRecords(UnsafeRawBufferPointer(buffer)), OutboxState(), Int64(0))
            while let record = records.next() {
                state.apply(record)
                if case .position(let id) = record { next = id }
                guard case .message(let message) = record else { continue }
                try require(message.id == next, "messages are numbered one after another")
                next += 1
                try require(
                    message.payload.lowerBound >= 0 && message.payload.upperBound <= bytes.count,
                    "a payload is within its frame")
                try require(message.size >= OutboxPolicy.rowOverhead, "a message takes room")
            }
            try require(
                zip(state.removed.ranges, state.removed.ranges.dropFirst()).allSatisfy {
                    $0.upperBound + 1 < $1.lowerBound
                }, "what has left is in ascending order")
            return records.isMalformed ? .refused : .accepted
        },
        FuzzTarget(name: "outbox-frame") { bytes throws(Violation) in
            // The mark comes first, so that it need not be guessed; the checksum is made to fit.
            let mark: UInt64 = 0x0102_0304_0506_0708
            var sealed = bytes
            guard bytes.count >= OutboxFrame.headerBytes else { return .refused }
            let asIs = bytes.withUnsafeBytes { OutboxFrame.parse($0, mark: mark) }
            if case .frame(let frame) = asIs {
                try require(frame.length + OutboxFrame.headerBytes <= bytes.count, "a frame is all there")
            }
            if case .needs(let count) = asIs {
                try require(
                    count > bytes.count && count <= OutboxFrame.limit + OutboxFrame.headerBytes, "a frame has a limit")
            }
            OutboxFrame.seal(&sealed, mark: mark, start: 7, number: 9, isLast: true)
            let parsed = sealed.withUnsafeBytes { OutboxFrame.parse($0, mark: mark) }
            let length = bytes.count - OutboxFrame.headerBytes
            try require(
                parsed == .frame(OutboxFrame(length: length, start: 7, number: 9, isLast: true)),
                "what was sealed can be read")
            return asIs == .none ? .refused : .accepted
        },
        FuzzTarget(name: "broker-packets") { bytes throws(Violation) in
            // The first byte says how much comes at once.
            guard let piece = bytes.first.map({ Int($0) + 1 }) else { return .refused }
            let sent = bytes.dropFirst()
            let passed = try Self.passed(sent, inPiecesOf: piece)
            let atOnce = try Self.passed(sent, inPiecesOf: .max)
            try require(passed == atOnce, "it makes no difference in what pieces packets come")
            // A header may be unfinished at the end.
            if sent.starts(with: passed) { return .accepted }
            // What cannot be shortened gets a length that the library refuses.
            if passed.firstRange(of: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) != nil { return .refused }
            try require(passed.count < sent.count, "a message that is too large is shortened")
            return .accepted
        },
    ]

    /// What the library would read.
    private static func passed(_ bytes: ArraySlice<UInt8>, inPiecesOf piece: Int) throws(Violation) -> [UInt8] {
        var (gate, rest, passed) = (PacketGate(payloadLimit: 0), bytes, [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 7)
        while true {
            let count = buffer.withUnsafeMutableBytes { buffer in
                gate.read(into: buffer) { wanted in
                    let count = min(wanted.count, rest.count, piece)
                    wanted.copyBytes(from: rest.prefix(count))
                    rest = rest.dropFirst(count)
                    return count
                }
            }
            try require(count >= 0 && count <= buffer.count, "no more is read than was asked for")
            guard count > 0 else { break }
            passed += buffer.prefix(count)
        }
        try require(rest.isEmpty, "everything is read")
        return passed
    }
}
