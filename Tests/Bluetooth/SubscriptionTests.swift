import Testing

@testable import Bluetooth

@Suite("Values a server sends", .timeLimit(.minutes(5)))
struct SubscriptionTests {
    private func subscribed(_ mode: SubscriptionMode) -> GATTServer.Effect {
        .event(.subscribed(Fixture.central, characteristic: Fixture.characteristic, mode))
    }
    private let unsubscribed = GATTServer.Effect.event(
        .unsubscribed(Fixture.central, characteristic: Fixture.characteristic))

    @Test(
        "sent values go out in the mode that was enabled (MAG 8.2)",
        arguments: [[.notify], [.notify, .indicate], [.indicate]] as [CharacteristicProperties])
    func modes(properties: CharacteristicProperties) {
        var server = Fixture.server(properties.union(.writeWithoutResponse))
        #expect(server.receive([0x12, 13, 0, 1, 0]) == [.send([0x13]), subscribed(.notify)])
        #expect(server.answer([0x0A, 13, 0]) == [0x0B, 1, 0])
        #expect(server.notify([0x30]) == [.send([0x1B, 12, 0, 0x30]), .delivered(ticket: 1)])
        #expect(server.receive([0x12, 13, 0, 2, 0]) == [.send([0x13]), subscribed(.indicate)])
        #expect(server.notify([0x31], ticket: 2) == [.send([0x1D, 12, 0, 0x31])])
        #expect(server.receive([0x1E]) == [.delivered(ticket: 2)])
        #expect(server.receive([0x12, 13, 0, 3, 0]) == [.send([0x13]), subscribed(.notify)])
        #expect(server.receive([0x12, 13, 0, 1, 0]) == [.send([0x13])], "the mode is the same")
        #expect(server.receive([0x12, 13, 0, 0, 0]) == [.send([0x13]), unsubscribed])
    }

    @Test("sent values go out as notifications without a subscription, as indications if that is all there is")
    func unasked() {
        var server = Fixture.server()
        #expect(server.notify([0x30]) == [.send([0x1B, 12, 0, 0x30]), .delivered(ticket: 1)])
        var indicating = Fixture.server(.indicate)
        #expect(indicating.notify([0x30]) == [.send([0x1D, 12, 0, 0x30])])
        var silent = Fixture.server(.write)
        #expect(silent.notify([0x30]).refused == [1])
    }

    @Test("sent values are enabled by two bytes, one of which has the mode (Part G 3.3.3.3)")
    func configuration() {
        var server = Fixture.server()
        #expect(server.answer([0x12, 13, 0, 1]) == Fixture.error(0x12, at: 13, .invalidValueLength))
        #expect(server.answer([0x12, 13, 0, 1, 0, 0]) == Fixture.error(0x12, at: 13, .invalidValueLength))
        #expect(server.answer([0x12, 13, 0, 4, 0]) == Fixture.error(0x12, at: 13, .valueNotAllowed))
        #expect(server.answer([0x12, 13, 0, 1, 1]) == Fixture.error(0x12, at: 13, .valueNotAllowed))
        // Service Changed is this board's own, and no event of the application's.
        #expect(server.receive([0x12, 9, 0, 2, 0]) == [.send([0x13])])
    }

    @Test("sent values wait while an indication is not confirmed, up to a bound (Part F 3.3.2)")
    func oneIndicationAtATime() {
        var server = Fixture.server()
        _ = server.receive([0x12, 13, 0, 2, 0])
        #expect(server.notify([0], ticket: 0) == [.send([0x1D, 12, 0, 0])])
        for ticket in 1...GATTServer.indicationLimit { #expect(server.notify([UInt8(ticket)], ticket: ticket).isEmpty) }
        #expect(server.notify([0], ticket: 99).refused == [99])
        #expect(server.receive([0x1E, 0]).isEmpty, "a malformed confirmation confirms nothing")
        for ticket in 0..<GATTServer.indicationLimit {
            #expect(server.receive([0x1E]) == [.delivered(ticket: ticket), .send([0x1D, 12, 0, UInt8(ticket + 1)])])
        }
        #expect(server.receive([0x1E]) == [.delivered(ticket: GATTServer.indicationLimit)])
        #expect(server.deadline == nil)
        #expect(server.receive([0x1E]).isEmpty)
    }

    @Test("sent values end the bearer when an indication is not confirmed within 30 s (Part F 3.3.3)")
    func timeOut() {
        var server = Fixture.server()
        _ = server.receive([0x12, 13, 0, 2, 0])
        _ = server.notify([1], ticket: 1)
        _ = server.notify([2], ticket: 2)
        #expect(server.deadline == Fixture.now + .seconds(30))
        #expect(server.advance(to: Fixture.now + .milliseconds(29_999)).isEmpty)
        let error = BluetoothError.timedOut(operation: "confirm an indication")
        #expect(
            server.advance(to: Fixture.now + .seconds(30))
                == [.failed(ticket: 1, error), .failed(ticket: 2, error), .close(error)])
        #expect(server.receive([0x0A, 3, 0]).isEmpty)
        #expect(server.notify([3], ticket: 3) == [.failed(ticket: 3, .disconnected)])
        #expect(server.end(.disconnected).isEmpty)
    }

    @Test("sent values fit one packet", arguments: [23, 24, 185, 247, 515, 516, 517])
    func length(mtu: Int) {
        var server = Fixture.server()
        _ = server.receive([0x02, UInt8(mtu & 0xFF), UInt8(mtu >> 8)])
        let room = min(mtu - 3, 512)
        #expect(server.notify([UInt8](repeating: 1, count: room)).last == .delivered(ticket: 1))
        #expect(server.notify([UInt8](repeating: 1, count: room + 1)) == [.failed(ticket: 1, .tooLong)])
    }

    @Test("sent values are each central's own: modes, prepared writes and MTU are not shared")
    func twoBearers() {
        let second = CentralID(address: Fixture.central.address, number: 2)
        var (one, two) = (Fixture.server(), Fixture.server(central: second))
        _ = one.receive([0x12, 13, 0, 2, 0])
        _ = one.receive([0x02, 0, 1])
        _ = one.receive([0x16, 12, 0, 0, 0, 1])
        #expect(two.notify([1]) == [.send([0x1B, 12, 0, 1]), .delivered(ticket: 1)])
        #expect(two.mtu == 23)
        #expect(two.receive([0x18, 1]) == [.send([0x19])])
        #expect(
            two.receive([0x52, 12, 0, 9])
                == [.event(.written(second, characteristic: Fixture.characteristic, value: [9]))])
    }
}
