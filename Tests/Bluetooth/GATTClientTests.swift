import Testing

@testable import Bluetooth

@Suite("Attribute client", .timeLimit(.minutes(5)))
struct GATTClientTests {
    private let discover = GATTOperation.discover(service: Fixture.service, characteristic: Fixture.characteristic)
    private let serviceBytes: [UInt8] = Fixture.service.bytes.reversed()
    private let uuidBytes: [UInt8] = Fixture.characteristic.bytes.reversed()

    /// A client that has found a characteristic with its value at handle 3.
    private func found(_ properties: UInt8, configuration: Bool = true) -> (GATTClient, RemoteCharacteristic) {
        var client = Fixture.client()
        _ = client.start(discover, ticket: 0)
        _ = client.receive([0x07, 1, 0, 4, 0])
        _ = client.receive(Fixture.error(0x06, at: 5, .attributeNotFound))
        _ = client.receive([0x09, 21, 2, 0, properties, 3, 0] + uuidBytes)
        _ = client.receive(Fixture.error(0x08, at: 4, .attributeNotFound))
        let last = client.receive(
            configuration ? [0x05, 1, 4, 0, 0x02, 0x29] : Fixture.error(0x04, at: 4, .attributeNotFound))
        return (client, last.found!)
    }

    @Test(
        "the attribute client finds service, characteristics, descriptors in order (Part G 4.4.2, 4.6.1, 4.7.1)")
    func discovers() {
        var client = Fixture.client()
        #expect(client.start(discover) == [.send([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + serviceBytes)])
        #expect(client.receive([0x07, 5, 0, 9, 0]) == [.send([0x06, 10, 0, 0xFF, 0xFF, 0x00, 0x28] + serviceBytes)])
        #expect(
            client.receive(Fixture.error(0x06, at: 10, .attributeNotFound)) == [.send([0x08, 5, 0, 9, 0, 0x03, 0x28])])
        #expect(client.receive([0x09, 21, 6, 0, 0x14, 7, 0] + uuidBytes) == [.send([0x08, 8, 0, 9, 0, 0x03, 0x28])])
        #expect(client.receive(Fixture.error(0x08, at: 8, .attributeNotFound)) == [.send([0x04, 8, 0, 9, 0])])
        #expect(client.receive([0x05, 1, 8, 0, 0x01, 0x29]) == [.send([0x04, 9, 0, 9, 0])])
        let characteristic = RemoteCharacteristic(
            uuid: Fixture.characteristic, properties: [.writeWithoutResponse, .notify],
            hasConfigurationDescriptor: true,
            handle: 7)
        #expect(client.receive([0x05, 1, 9, 0, 0x02, 0x29]) == [.finished(ticket: 1, .characteristic(characteristic))])
        #expect(client.deadline == nil)
    }

    @Test("the attribute client does not use the descriptor of the next characteristic")
    func descriptorBound() {
        var client = Fixture.client()
        _ = client.start(discover)
        _ = client.receive([0x07, 1, 0, 9, 0])
        _ = client.receive(Fixture.error(0x06, at: 10, .attributeNotFound))
        _ = client.receive([0x09, 21, 2, 0, 0x10, 3, 0] + uuidBytes)
        // The next declaration comes right after the value: there is no room for a descriptor.
        #expect(client.receive([0x09, 7, 4, 0, 0x10, 5, 0, 0x00, 0x2A]).found?.hasConfigurationDescriptor == false)
    }

    @Test("the attribute client searches the services one by one if the other device cannot search by value")
    func discoversByGroup() {
        for code in [ATTErrorCode.requestNotSupported, .attributeNotFound] {
            var client = Fixture.client()
            _ = client.start(discover)
            #expect(client.receive(Fixture.error(0x06, at: 1, code)) == [.send([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])])
            #expect(
                client.receive([0x11, 6, 1, 0, 5, 0, 0x00, 0x18]) == [.send([0x10, 6, 0, 0xFF, 0xFF, 0x00, 0x28])])
            #expect(
                client.receive([0x11, 20, 6, 0, 0xFF, 0xFF] + serviceBytes)
                    == [.send([0x08, 6, 0, 0xFF, 0xFF, 0x03, 0x28])])
            #expect(
                client.receive(Fixture.error(0x08, at: 6, .attributeNotFound))
                    == [.finished(ticket: 1, .characteristic(nil))])
        }
    }

    @Test(
        "the attribute client enables notifications, or indications if there is nothing else (Part G 3.3.3.3)",
        arguments: [(0x10, 1), (0x30, 1), (0x20, 2), (0x04, 1)] as [(UInt8, UInt8)])
    func subscribes(properties: UInt8, value: UInt8) {
        var (client, characteristic) = found(properties)
        #expect(client.start(.subscribe(characteristic)) == [.send([0x12, 4, 0, value, 0])])
        #expect(client.receive([0x13]) == [.finished(ticket: 1, .subscribed(true))])
    }

    @Test("the attribute client continues without a descriptor, and if the other device refuses (MAG 8.2)")
    func withoutDescriptor() {
        var (client, characteristic) = found(0x14, configuration: false)
        #expect(!characteristic.hasConfigurationDescriptor)
        #expect(client.start(.subscribe(characteristic)) == [.finished(ticket: 1, .subscribed(false))])
        #expect(
            client.receive([0x1B, 3, 0, 0x30])
                == [.value(RemoteValue(characteristic: Fixture.characteristic, bytes: [0x30]))])
        (client, characteristic) = found(0x14)
        _ = client.start(.subscribe(characteristic))
        #expect(
            client.receive(Fixture.error(0x12, at: 4, .insufficientAuthentication))
                == [.finished(ticket: 1, .subscribed(false))])
    }

    @Test("the attribute client confirms indications, also those it does not know (Part F 3.4.7.3)")
    func confirms() {
        var (client, _) = found(0x20)
        #expect(
            client.receive([0x1D, 3, 0, 0x31])
                == [.send([0x1E]), .value(RemoteValue(characteristic: Fixture.characteristic, bytes: [0x31]))])
        #expect(client.receive([0x1D, 9, 0, 0x31]) == [.send([0x1E])])
        #expect(client.receive([0x1B, 9, 0, 0x31]).isEmpty)
        #expect(client.receive([0x1B, 9]).isEmpty)
    }

    @Test("the attribute client has one request outstanding, and keeps the order of operations (Part F 3.3.2)")
    func order() {
        var (client, characteristic) = found(0x0C)
        #expect(client.start(.write([1], characteristic, withResponse: true), ticket: 1) == [.send([0x12, 3, 0, 1])])
        #expect(client.start(.write([2], characteristic, withResponse: false), ticket: 2).isEmpty)
        #expect(client.start(.write([3], characteristic, withResponse: true), ticket: 3).isEmpty)
        #expect(
            client.receive([0x13]) == [
                .finished(ticket: 1, .written), .send([0x52, 3, 0, 2]), .finished(ticket: 2, .written),
                .send([0x12, 3, 0, 3]),
            ])
        let refusal = BluetoothError.att(.writeNotPermitted, operation: "write a value")
        #expect(client.receive(Fixture.error(0x12, at: 3, .writeNotPermitted)) == [.failed(ticket: 3, refusal)])
        #expect(
            client.start(.write([UInt8](repeating: 0, count: 21), characteristic, withResponse: false))
                == [.failed(ticket: 1, .tooLong)])
    }

    @Test("the attribute client ends the bearer and all operations after 30 s unanswered (Part F 3.3.3)")
    func timeOut() {
        var (client, characteristic) = found(0x0C)
        _ = client.start(.read(characteristic), ticket: 1)
        _ = client.start(.exchangeMTU, ticket: 2)
        #expect(client.deadline == Fixture.now + .seconds(30))
        #expect(client.advance(to: Fixture.now + .seconds(29)).isEmpty)
        let error = BluetoothError.timedOut(operation: "read a value")
        #expect(
            client.advance(to: Fixture.now + .seconds(30))
                == [.failed(ticket: 1, error), .failed(ticket: 2, error), .close(error)])
        #expect(client.start(.exchangeMTU, ticket: 3) == [.failed(ticket: 3, .disconnected)])
        #expect(client.receive([0x0B, 1]).isEmpty)
    }

    @Test("the attribute client fails everything that waits when the connection ends")
    func disconnect() {
        var client = Fixture.client()
        _ = client.start(.exchangeMTU, ticket: 1)
        _ = client.start(discover, ticket: 2)
        #expect(
            client.end(.disconnected)
                == [.failed(ticket: 1, .disconnected), .failed(ticket: 2, .disconnected), .close(.disconnected)])
        #expect(client.end(.disconnected).isEmpty)
    }

    @Test("the attribute client stays at 23 bytes if the other device does not negotiate (Part F 3.4.2)")
    func noMTU() {
        var client = Fixture.client()
        #expect(client.start(.exchangeMTU) == [.send([0x02, 0x05, 0x02])])
        #expect(client.receive(Fixture.error(0x02, at: 0, .requestNotSupported)) == [.finished(ticket: 1, .mtu(23))])
    }

    @Test("the attribute client answers the other device's requests while its own is outstanding")
    func servesToo() {
        var client = Fixture.client()
        _ = client.start(discover)
        #expect(client.receive([0x02, 185, 0]) == [.send([0x03, 0x05, 0x02])])
        #expect(client.mtu == 185)
        #expect(client.receive([0x0A, 3, 0]) == [.send([0x0B] + Array("other".utf8))])
        #expect(
            client.receive([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + serviceBytes)
                == [.send(Fixture.error(0x06, at: 1, .attributeNotFound))])
    }

    @Test("the attribute client ignores unexpected answers, and ends the bearer on an answer to another request")
    func wrongAnswers() {
        var client = Fixture.client()
        #expect(client.receive([0x0B, 1]).isEmpty)
        #expect(client.receive(Fixture.error(0x0A, at: 1, .invalidHandle)).isEmpty)
        for answer: [UInt8] in [[0x0B, 1], Fixture.error(0x0A, at: 1, .invalidHandle), [0x01], [0x01, 0x02, 0, 0]] {
            client = Fixture.client()
            _ = client.start(.exchangeMTU)
            let effects = client.receive(answer)
            #expect(effects.refused == [1] && effects.isClosing, "\(answer)")
        }
    }

    @Test(
        "the attribute client refuses handles that lead backwards, so that discovery ends",
        arguments: [
            [0x07], [0x07, 1, 0, 4], [0x07, 4, 0, 1, 0], [0x07, 0, 0, 1, 0], [0x07, 5, 0, 9, 0, 1, 0, 4, 0],
        ] as [[UInt8]])
    func malformedServices(answer: [UInt8]) {
        var client = Fixture.client()
        _ = client.start(discover)
        #expect(client.receive(answer).refused == [1])
    }

    @Test("the attribute client gives up on a peripheral that never comes to an end")
    func endless() {
        var client = Fixture.client()
        var effects = client.start(discover)
        var handle: UInt16 = 1
        while case .send? = effects.first, handle < 2000 {
            let bytes = [UInt8(handle & 0xFF), UInt8(handle >> 8)]
            effects = client.receive([0x07] + bytes + bytes)
            handle += 1
        }
        #expect(effects.refused == [1] && handle < 600)
    }
}
