import Testing

@testable import Bluetooth

@Suite("Client and server together", .timeLimit(.minutes(5)))
struct LinkTests {
    @Test("client and server discover, subscribe, write and notify at every MTU", arguments: 23...517)
    func everyMTU(mtu: Int) throws {
        var link = Link(
            client: Fixture.client(mtu: mtu),
            server: Fixture.server([.read, .write, .writeWithoutResponse, .notify, .indicate]))
        #expect(link.run(.exchangeMTU) == .mtu(mtu))
        #expect(link.server.mtu == mtu)
        let discovered = link.found()
        let found = try #require(discovered)
        #expect(found.handle == Fixture.Handle.value && found.hasConfigurationDescriptor)
        #expect(link.run(.subscribe(found)) == .subscribed(true))
        let room = min(mtu - 3, ATT.valueLimit)
        let value = (0..<room).map { UInt8(truncatingIfNeeded: $0) }
        #expect(link.run(.write(value, found, withResponse: true)) == .written)
        #expect(link.run(.write(value, found, withResponse: false)) == .written)
        link.notify(value)
        #expect(link.values == [RemoteValue(characteristic: Fixture.characteristic, bytes: value)])
        #expect(link.run(.read(found)) == .value(value))
        #expect(
            link.events == [
                .subscribed(Fixture.central, characteristic: Fixture.characteristic, .notify),
                .written(Fixture.central, characteristic: Fixture.characteristic, value: value),
                .written(Fixture.central, characteristic: Fixture.characteristic, value: value),
            ])
        #expect(link.longest <= mtu && !link.isClosed && link.failures.isEmpty)
        #expect(link.run(.write(value + [0], found, withResponse: true)) == nil)
    }

    @Test(
        "client and server read a value longer than a packet, also one that fills its packets exactly",
        arguments: [0, 21, 22, 23, 43, 44, 45, 66, 248])
    func longRead(length: Int) {
        var link = Link(client: Fixture.client(), server: Fixture.server(name: String(repeating: "n", count: length)))
        let name = RemoteCharacteristic(
            uuid: BluetoothUUID(short: 0x2A00), properties: .read, hasConfigurationDescriptor: false,
            handle: Fixture.Handle.name)
        #expect(link.run(.read(name)) == .value([UInt8](repeating: UInt8(ascii: "n"), count: length)))
    }

    @Test("client and server carry a request in pieces of 20 bytes, and its answer as an indication (MAG 8.2)")
    func request() throws {
        var link = Link(client: Fixture.client(), server: Fixture.server([.writeWithoutResponse, .indicate]))
        let discovered = link.found()
        let found = try #require(discovered)
        let request = Array(#"{"provider_url":"https://gateway.example:8443/auth/device/authorization/1"}"#.utf8)
        for start in stride(from: 0, to: request.count, by: 20) {
            _ = link.run(.write(Array(request[start..<min(start + 20, request.count)]), found, withResponse: false))
        }
        _ = link.run(.write(Array("EOM".utf8), found, withResponse: false))
        #expect(link.run(.subscribe(found)) == .subscribed(true))
        link.notify([0x30])
        #expect(link.delivered == [0] && link.values.map(\.bytes) == [[0x30]])
        let pieces = link.events.compactMap { if case .written(_, _, let value) = $0 { value } else { nil } }
        #expect(pieces.last == Array("EOM".utf8) && pieces.dropLast().flatMap { $0 } == request)
    }

    @Test("client and server find a service of a short UUID, and report a missing one")
    func shortAndAbsent() {
        var link = Link(client: Fixture.client(), server: Fixture.server())
        let absent = BluetoothUUID(short: 0xABCD)
        guard
            case .characteristic(let name?)? = link.run(
                .discover(service: BluetoothUUID(short: 0x1800), characteristic: BluetoothUUID(short: 0x2A00)))
        else {
            Issue.record("not found")
            return
        }
        #expect(name.handle == Fixture.Handle.name && !name.hasConfigurationDescriptor)
        #expect(link.run(.discover(service: absent, characteristic: absent)) == .characteristic(nil))
        #expect(link.run(.discover(service: Fixture.service, characteristic: absent)) == .characteristic(nil))
    }
}

@Suite("Bytes of a hostile device", .timeLimit(.minutes(5)))
struct HostileBytesTests {
    @Test("hostile bytes of every opcode and length are answered within the MTU, or end the bearer")
    func everyOpcode() {
        for opcode in UInt8.min...UInt8.max {
            for filler: UInt8 in [0x00, 0x01, 0x0C, 0xFF] {
                for length in 0...30 {
                    var server = Fixture.server([.read, .write, .notify])
                    let packet = [opcode] + [UInt8](repeating: filler, count: length)
                    let answers = server.receive(packet).filter { if case .send = $0 { true } else { false } }
                    #expect(answers.count <= 1)
                    if ATTOpcode(rawValue: opcode)?.role == .request { #expect(answers.count == 1) }
                    if case .send(let answer)? = answers.first { #expect(answer.count <= 23 || answer.first == 0x17) }
                    var client = Fixture.client()
                    _ = client.start(.discover(service: Fixture.service, characteristic: Fixture.characteristic))
                    _ = client.receive(packet)
                    #expect(client.end(.disconnected).count <= 2)
                }
            }
        }
    }

    @Test(
        "hostile bytes of requests of a wrong length are refused as malformed (Part F 3.4.1.1)",
        arguments: [
            (0x02, [3]), (0x04, [5]), (0x08, [7, 21]), (0x0A, [3]), (0x0C, [5]), (0x10, [7, 21]), (0x18, [2]),
        ] as [(UInt8, [Int])])
    func lengths(opcode: UInt8, right: [Int]) {
        for length in 1...23 where !right.contains(length) {
            var server = Fixture.server()
            // Handle 1 to 0x0101, which is where a range and an attribute are.
            let packet = [opcode] + [UInt8]([1, 0, 1, 1] + [UInt8](repeating: 1, count: 19)).prefix(length - 1)
            #expect(server.answer(packet) == Fixture.error(opcode, at: 0, .invalidPDU), "length \(length)")
        }
    }

    @Test("hostile bytes of no length, or beyond what was offered, end the bearer")
    func noPacket() {
        for packet in [[], [UInt8](repeating: 0x52, count: 518)] {
            var (server, client) = (Fixture.server(), Fixture.client())
            #expect(server.receive(packet).isClosing && client.receive(packet).isClosing)
        }
    }

    @Test("hostile bytes at random neither crash the server nor let its memory grow")
    func random() {
        var generator = SystemRandomNumberGenerator()
        var (server, client) = (Fixture.server([.read, .write, .notify, .indicate]), Fixture.client())
        for round in 0..<50_000 {
            var packet = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Known opcodes and small handles get further.
            if round.isMultiple(of: 2) { packet[0] = UInt8.random(in: 1...0x23, using: &generator) }
            for index in packet.indices.dropFirst().prefix(4) where Bool.random(using: &generator) {
                packet[index] = UInt8(index % 2) * 12
            }
            for case .send(let answer) in server.receive(packet) { #expect(answer.count <= 517) }
            _ = server.notify([1], ticket: round)
            if client.start(.exchangeMTU, ticket: round).isEmpty { client = Fixture.client() }
            _ = client.receive(packet)
        }
        #expect(server.configurations.count <= 2 && server.values.count <= 1)
    }
}

@Suite("UUIDs and addresses", .timeLimit(.minutes(5)))
struct BluetoothNameTests {
    @Test("UUIDs and addresses of every form are equal (Vol 3 Part B 2.5.1)")
    func forms() {
        let long = BluetoothUUID("0000180F-0000-1000-8000-00805f9b34fb")
        #expect(
            long == BluetoothUUID(short: 0x180F) && long == BluetoothUUID("180f") && long == BluetoothUUID("0000180F"))
        #expect(long == BluetoothUUID("0000180F00001000800000805F9B34FB") && long?.shortForm == 0x180F)
        #expect(long?.description == "0000180f-0000-1000-8000-00805f9b34fb")
        #expect(BluetoothUUID("0001180f")?.shortForm == nil && Fixture.service.shortForm == nil)
        #expect(long?.attributeBytes == [0x0F, 0x18] && BluetoothUUID(attributeBytes: [0x0F, 0x18]) == long)
        #expect(BluetoothUUID(attributeBytes: Fixture.service.attributeBytes) == Fixture.service)
    }

    @Test(
        "UUIDs and addresses are refused if malformed",
        arguments: [
            "", "18", "180", "180g", "0000180F-0000-1000-8000-00805f9b34f", "0000180F00-00-1000-8000-00805f9b34fb",
            "0000180F-0000-1000-8000-00805f9b34fbé", "{0000180F-0000-1000-8000-00805f9b34fb}",
        ])
    func malformed(text: String) { #expect(BluetoothUUID(text) == nil) }

    @Test("UUIDs and addresses of devices read as they are written")
    func addresses() {
        #expect(BluetoothAddress("c0:01:02:03:04:fF", kind: .random)?.description == "C0:01:02:03:04:FF")
        for text in [
            "", "C0:01:02:03:04", "C0:01:02:03:04:5", "C001:02:03:04:05", "C0-01-02-03-04-05", "C0:01:02:03:04:0G",
        ] {
            #expect(BluetoothAddress(text, kind: .public) == nil)
        }
    }
}
