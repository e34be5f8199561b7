import Testing

@testable import Messaging

@Suite("Packets of a broker")
struct PacketGateTests {
    /// What passes, read as the library does: byte by byte where it does not know yet how much there is.
    ///
    /// - Parameters:
    ///   - bytes: of the broker, of which at most `piece` come at once, with nothing after each.
    ///   - discarded: called with what is missing in each packet that passed.
    private func passed(
        _ bytes: [UInt8], limit: Int = 10, piece: Int = .max, asking: Int = 1,
        discarded: (Int) -> Void = { _ in }, withholds: PacketGate.Withholding? = nil
    ) -> [UInt8] {
        var gate = PacketGate(payloadLimit: limit, withholds: withholds)
        var (rest, passed, isPaused) = (bytes[...], [UInt8](), false)
        var buffer = [UInt8](repeating: 0, count: asking)
        var last: Int?
        while true {
            let count = buffer.withUnsafeMutableBytes { buffer in
                gate.read(into: buffer) { wanted in
                    isPaused.toggle()
                    guard !isPaused || piece == .max else { return -1 }
                    let count = min(wanted.count, rest.count, piece)
                    wanted.copyBytes(from: rest.prefix(count))
                    rest = rest.dropFirst(count)
                    return count
                }
            }
            if let missing = gate.discarded, missing != last { discarded(missing) }
            last = gate.discarded
            guard count != 0 else { return passed }
            passed += buffer.prefix(max(0, count))
        }
    }

    private func packet(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        var (length, header) = (content.count, [kind])
        repeat {
            header.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        return header + content
    }

    private func message(_ payload: Int, topic: Int = 3, qos: UInt8 = 1) -> [UInt8] {
        let name = [UInt8(topic >> 8), UInt8(topic & 0xFF)] + [UInt8](repeating: 0x74, count: topic)
        return packet(
            0x30 | qos << 1, name + (qos > 0 ? [0x12, 0x34] : []) + [UInt8](repeating: 0x2E, count: payload))
    }

    private static let pieces = [Int.max, 1, 2, 3, 1000]

    @Test("packets of a broker pass as they are up to the limit, in whatever pieces they come", arguments: pieces)
    func unchanged(piece: Int) {
        let packets =
            packet(0x20, [0, 0]) + message(0) + message(5, qos: 0) + packet(0xD0, []) + message(200)
            + message(20_000) + message(10, topic: 65_535) + packet(0x40, [0, 1])
        #expect(passed(packets, piece: piece) == packets)
        #expect(passed(packets, piece: piece, asking: 100) == packets)
    }

    @Test("packets of too large messages lose their payload, and those after them pass", arguments: pieces)
    func shortened(piece: Int) {
        for (topic, qos) in [(3, 1), (0, 0), (0, 1), (200, 0), (65_535, 1)] as [(Int, UInt8)] {
            let payload = 10 + 65_539 + 1
            var missing: [Int] = []
            let packets = message(1) + message(payload, topic: topic, qos: qos) + message(2)
            let passed = passed(packets, piece: piece) { missing.append($0) }
            #expect(passed == message(1) + message(0, topic: topic, qos: qos) + message(2))
            #expect(missing == [payload])
        }
    }

    @Test("packets of withheld messages of QoS 1 do not pass, and all others do", arguments: pieces)
    func withheld(piece: Int) {
        let passing: [[UInt8]] = [
            packet(0x20, [0, 0]), message(9, topic: 4), message(300, topic: 0), message(5, qos: 0), packet(0xD0, []),
            packet(0x33, [0, 3] + Array("ttt".utf8) + [0, 1, 9]), packet(0x40, [0, 1]),
        ]
        let withheld = [
            message(0), message(1), message(20_000), packet(0x3A, message(7).dropFirst(2) + []), message(80_000),
        ]
        var (sent, expected) = ([UInt8](), [UInt8]())
        for (number, packet) in passing.enumerated() {
            sent += withheld[number % withheld.count] + packet
            expected += packet
        }
        for asking in [1, 100] {
            let passed = passed(sent + withheld[0], piece: piece, asking: asking, withholds: { $0 == "ttt" && !$1 })
            #expect(passed == expected)
        }
    }

    @Test("packets are refused if their topic is longer than they are, where it has to be known", arguments: pieces)
    func longTopic(piece: Int) {
        for content: [UInt8] in [[], [0], [0, 3, 0x74], [0, 3, 0x74, 0x74, 0x74, 0]] {
            let passed = passed(packet(0x32, content) + message(1), piece: piece, withholds: { _, _ in false })
            #expect(passed.prefix(6) == [0x32, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        }
    }

    private func exactly(_ id: Int, _ payload: Int = 1) -> [UInt8] {
        let name: [UInt8] = [0, 1, 0x74, UInt8(id >> 8), UInt8(id & 0xFF)]
        return packet(0x34, name + [UInt8](repeating: 0x2E, count: payload))
    }

    private func release(_ id: Int) -> [UInt8] { packet(0x62, [UInt8(id >> 8), UInt8(id & 0xFF)]) }

    @Test(
        "packets of QoS 2 pass without end while they are released, and are refused where they are not",
        arguments: pieces)
    func unreleased(piece: Int) {
        let most = PacketGate.mostUnreleased
        let refused: [UInt8] = [0x34, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        let window = (1...most).flatMap { exactly($0) }
        #expect(passed(window, piece: piece) == window)
        // In whatever order, with others in between.
        let others = message(5) + packet(0xD0, []) + message(0, qos: 0)
        let released = window + others + (1...2 * most).flatMap { release($0) + exactly($0 + most) }
        #expect(passed(released, piece: piece, asking: 100) == released)
        // What was never sent, or is released again, makes no room.
        let more = release(1) + exactly(1) + release(5000) + release(0)
        let over = passed(window + more + exactly(most + 1) + message(1), piece: piece)
        #expect(over.starts(with: window + more + refused))
        let again = passed(exactly(7) + exactly(8) + exactly(7) + message(1), piece: piece)
        #expect(again.starts(with: exactly(7) + exactly(8) + refused))
        #expect(passed(packet(0x62, [1]) + message(1), piece: piece).starts(with: [0x62, 0xFF, 0xFF]))
    }

    @Test("packets of QoS 2 are refused when they take too much, though they are few")
    func unreleasedBytes() {
        let (bytes, limit) = (1 << 20, 1 << 20)
        let window = (1...31).flatMap { exactly($0, bytes) }
        #expect(passed(window, limit: limit, asking: 65_536) == window)
        let over = passed(window + exactly(32, bytes), limit: limit, asking: 65_536)
        #expect(over.dropFirst(window.count).prefix(6) == [0x34, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        let released = window + release(9) + exactly(32, bytes)
        #expect(passed(released, limit: limit, asking: 65_536) == released)
    }

    @Test("packets that are too large and no messages have a length that the library refuses")
    func refused() {
        let content = [UInt8](repeating: 0, count: 70_000)
        // With QoS 2 the library hands a message over only with a later packet.
        for packet in [packet(0x90, content), packet(0x34, content), [0x20, 0x80, 0x80, 0x80, 0x80, 0x01]] {
            #expect(passed(packet).prefix(6) == [packet[0], 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        }
    }
}
