import Testing

@testable import Bluetooth

/// Packets by hand, with their section in Bluetooth Core Vol 3 Part F.
@Suite("Attribute server", .timeLimit(.minutes(5)))
struct GATTServerTests {
    private let serviceBytes: [UInt8] = Fixture.service.bytes.reversed()
    private let characteristicBytes: [UInt8] = Fixture.characteristic.bytes.reversed()

    @Test("the attribute server agrees on the smaller MTU, once, and never below 23 (Part F 3.4.2)")
    func exchangesMTU() {
        var server = Fixture.server(mtu: 247)
        #expect(server.answer([0x02, 0x05, 0x02]) == [0x03, 247, 0])
        #expect(server.mtu == 247)
        #expect(server.answer([0x02, 0x40, 0x00]) == Fixture.error(0x02, at: 0, .requestNotSupported))
        #expect(server.mtu == 247)
        var small = Fixture.server()
        #expect(small.answer([0x02, 0x05, 0x00]) == [0x03, 0x05, 0x02])
        #expect(small.mtu == 23)
    }

    @Test("the attribute server lists services by group, those with UUIDs of one length at once (Part F 3.4.4.9)")
    func listsGroups() {
        var server = Fixture.server()
        #expect(
            server.answer([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28]) == [
                0x11, 6, 1, 0, 5, 0, 0x00, 0x18, 6, 0, 9, 0, 0x01, 0x18,
            ])
        #expect(server.answer([0x10, 10, 0, 0xFF, 0xFF, 0x00, 0x28]) == [0x11, 20, 10, 0, 13, 0] + serviceBytes)
        #expect(
            server.answer([0x10, 14, 0, 0xFF, 0xFF, 0x00, 0x28]) == Fixture.error(0x10, at: 14, .attributeNotFound))
        #expect(
            server.answer([0x10, 1, 0, 0xFF, 0xFF, 0x03, 0x28]) == Fixture.error(0x10, at: 1, .unsupportedGroupType))
    }

    @Test("the attribute server finds a service by its UUID (Part F 3.4.3.3)")
    func findsByTypeValue() {
        var server = Fixture.server()
        #expect(server.answer([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + serviceBytes) == [0x07, 10, 0, 13, 0])
        #expect(server.answer([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28, 0x01, 0x18]) == [0x07, 6, 0, 9, 0])
        #expect(
            server.answer([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18])
                == Fixture.error(0x06, at: 1, .attributeNotFound))
    }

    @Test("the attribute server lists the characteristics of a service (Part F 3.4.4.1)")
    func listsCharacteristics() {
        var server = Fixture.server()
        #expect(
            server.answer([0x08, 10, 0, 13, 0, 0x03, 0x28]) == [0x09, 21, 11, 0, 0x34, 12, 0] + characteristicBytes)
        #expect(
            server.answer([0x08, 1, 0, 5, 0, 0x03, 0x28])
                == [0x09, 7, 2, 0, 0x02, 3, 0, 0x00, 0x2A, 4, 0, 0x02, 5, 0, 0x01, 0x2A])
        #expect(server.answer([0x08, 12, 0, 13, 0, 0x03, 0x28]) == Fixture.error(0x08, at: 12, .attributeNotFound))
        // By the type of a value that cannot be read, in the long form.
        #expect(
            server.answer([0x08, 1, 0, 0xFF, 0xFF] + characteristicBytes)
                == Fixture.error(0x08, at: 12, .readNotPermitted))
    }

    @Test("the attribute server lists types, with a configuration for notifying characteristics (Part F 3.4.3.1)")
    func findsInformation() {
        var server = Fixture.server()
        #expect(server.answer([0x04, 13, 0, 0xFF, 0xFF]) == [0x05, 1, 13, 0, 0x02, 0x29])
        #expect(server.answer([0x04, 12, 0, 12, 0]) == [0x05, 2, 12, 0] + characteristicBytes)
        // Five fit 23 bytes.
        #expect(server.answer([0x04, 1, 0, 0xFF, 0xFF])?.count == 22)
        #expect(server.answer([0x04, 14, 0, 0xFF, 0xFF]) == Fixture.error(0x04, at: 14, .attributeNotFound))
        var silent = Fixture.server(.write)
        #expect(silent.answer([0x04, 13, 0, 0xFF, 0xFF]) == Fixture.error(0x04, at: 13, .attributeNotFound))
    }

    @Test(
        "the attribute server refuses ranges that begin at 0 or end before they begin (Part F 3.4.3.1)",
        arguments: [0x04, 0x06, 0x08, 0x10] as [UInt8])
    func refusesRanges(opcode: UInt8) {
        var server = Fixture.server()
        let rest: [UInt8] = opcode == 0x04 ? [] : [0x00, 0x28]
        #expect(server.answer([opcode, 0, 0, 9, 0] + rest) == Fixture.error(opcode, at: 0, .invalidHandle))
        #expect(server.answer([opcode, 9, 0, 8, 0] + rest) == Fixture.error(opcode, at: 9, .invalidHandle))
    }

    @Test("the attribute server gives its name, a long one in parts (Part F 3.4.4.3, Part F 3.4.4.5)")
    func readsName() {
        let name = "a board whose name is longer than one packet"
        var server = Fixture.server(name: name)
        #expect(server.answer([0x0A, 3, 0]) == [0x0B] + Array(name.utf8.prefix(22)))
        #expect(server.answer([0x0C, 3, 0, 22, 0]) == [0x0D] + Array(name.utf8.dropFirst(22)))
        #expect(server.answer([0x0C, 3, 0, 44, 0]) == [0x0D])
        #expect(server.answer([0x0C, 3, 0, 45, 0]) == Fixture.error(0x0C, at: 3, .invalidOffset))
        #expect(server.answer([0x0A, 12, 0]) == Fixture.error(0x0A, at: 12, .readNotPermitted))
        #expect(server.answer([0x0A, 99, 0]) == Fixture.error(0x0A, at: 99, .invalidHandle))
        #expect(server.answer([0x0A, 0, 0]) == Fixture.error(0x0A, at: 0, .invalidHandle))
    }

    @Test("the attribute server takes writes of both kinds, even before a subscription (Part F 3.4.5, MAG 8.4)")
    func takesWrites() {
        var server = Fixture.server()
        #expect(server.receive([0x52, 12, 0, 1, 2, 3]) == [Fixture.written([1, 2, 3])])
        #expect(server.receive([0x12, 12, 0, 4]) == [.send([0x13]), Fixture.written([4])])
        #expect(server.receive([0x52, 12, 0]) == [Fixture.written([])])
        #expect(server.answer([0x12, 3, 0, 4]) == Fixture.error(0x12, at: 3, .writeNotPermitted))
        // A command is never answered.
        #expect(server.receive([0x52, 3, 0, 4]).isEmpty)
        #expect(server.receive([0x52, 12]).isEmpty)
    }

    @Test("the attribute server puts long writes together when they are executed (Part F 3.4.6)")
    func takesLongWrites() {
        var server = Fixture.server()
        let value = (0..<40).map { UInt8($0) }
        for start in stride(from: 0, to: 40, by: 18) {
            let piece = [12, 0, UInt8(start), 0] + value[start..<min(start + 18, 40)]
            #expect(server.answer([0x16] + piece) == [0x17] + piece)
        }
        #expect(server.receive([0x18, 1]) == [.send([0x19]), Fixture.written(value)])
        // They are gone by now.
        #expect(server.receive([0x18, 1]) == [.send([0x19])])
        #expect(server.answer([0x16, 12, 0, 0, 0, 1]) != nil)
        #expect(server.receive([0x18, 0]) == [.send([0x19])])
        #expect(server.receive([0x18, 1]) == [.send([0x19])])
        #expect(server.answer([0x18, 2]) == Fixture.error(0x18, at: 0, .invalidPDU))
    }

    @Test("the attribute server executes all of the prepared writes or none, and bounds them (Part F 3.4.6)")
    func boundsLongWrites() {
        var server = Fixture.server()
        _ = server.receive([0x16, 12, 0, 0, 0, 1])
        _ = server.receive([0x16, 12, 0, 2, 0, 1])
        #expect(server.answer([0x18, 1]) == Fixture.error(0x18, at: 12, .invalidOffset))
        _ = server.receive([0x16, 12, 0, 0, 0, 1])
        _ = server.receive([0x16, 13, 0, 0, 0, 9, 0])
        #expect(server.answer([0x18, 1]) == Fixture.error(0x18, at: 13, .valueNotAllowed))
        for _ in 0..<PreparedWrites.limit.pieces { #expect(server.answer([0x16, 12, 0, 0, 0, 1])?.first == 0x17) }
        #expect(server.answer([0x16, 12, 0, 0, 0, 1]) == Fixture.error(0x16, at: 12, .prepareQueueFull))
        #expect(server.answer([0x16, 3, 0, 0, 0, 1]) == Fixture.error(0x16, at: 3, .writeNotPermitted))
    }

    @Test("the attribute server puts overlapping pieces and several values together as they came (Part F 3.4.6.3)")
    func overlappingPieces() {
        var server = Fixture.server()
        for piece: [UInt8] in [[0, 0, 1, 2, 3], [1, 0, 9], [2, 0], [3, 0, 4], [0, 0, 7]] {
            #expect(server.answer([0x16, 12, 0] + piece)?.first == 0x17)
        }
        #expect(server.receive([0x18, 1]) == [.send([0x19]), Fixture.written([1, 9, 3, 4]), Fixture.written([7])])
    }

    @Test("the attribute server accepts values of up to 512 bytes (Part F 3.2.9)")
    func boundsValues() {
        var server = Fixture.server()
        _ = server.receive([0x02, 0x05, 0x02])
        let value = [UInt8](repeating: 7, count: 512)
        #expect(server.receive([0x12, 12, 0] + value) == [.send([0x13]), Fixture.written(value)])
        #expect(server.answer([0x12, 12, 0] + value + [7]) == Fixture.error(0x12, at: 12, .invalidValueLength))
        #expect(server.receive([0x52, 12, 0] + value + [7]).isEmpty)
    }

    @Test("the attribute server requires pairing without keys, and encryption with keys (Part C 10.3.1)")
    func demandsEncryption() {
        var server = Fixture.server([.read, .write, .notify], encrypted: true)
        for packet: [UInt8] in [[0x12, 12, 0, 1], [0x0A, 12, 0], [0x12, 13, 0, 1, 0], [0x16, 12, 0, 0, 0, 1]] {
            server.security = .open
            #expect(
                server.answer(packet) == Fixture.error(packet[0], at: UInt16(packet[1]), .insufficientAuthentication))
            server.security = .bonded
            #expect(server.answer(packet) == Fixture.error(packet[0], at: UInt16(packet[1]), .insufficientEncryption))
        }
        #expect(server.receive([0x52, 12, 0, 1]).isEmpty)
        #expect(server.notify([1]).refused == [1], "never in clear")
        server.security = .encrypted
        #expect(server.receive([0x12, 12, 0, 1]) == [.send([0x13]), Fixture.written([1])])
        #expect(server.receive([0x12, 13, 0, 1, 0]).count == 2)
        #expect(server.notify([1]) == [.send([0x1B, 12, 0, 1]), .delivered(ticket: 1)])
    }

    @Test("the attribute server refuses unknown requests, and ignores unknown commands (Part F 3.3.1)")
    func unknown() {
        var server = Fixture.server()
        #expect(server.answer([0x0E, 3, 0, 5, 0]) == Fixture.error(0x0E, at: 0, .requestNotSupported))
        #expect(server.answer([0x20, 3, 0, 5, 0]) == Fixture.error(0x20, at: 0, .requestNotSupported))
        #expect(server.answer([0x30]) == Fixture.error(0x30, at: 0, .requestNotSupported))
        #expect(server.receive([0x72, 1, 2, 3]).isEmpty)
        #expect(server.receive([0xD2, 12, 0] + [UInt8](repeating: 0, count: 14)).isEmpty)
        #expect(server.receive([0x1D, 1, 0, 5]) == [.send([0x1E])])
    }
}
