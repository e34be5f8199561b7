import Testing

@testable import Bluetooth

@Suite("Pairing agent for bluetoothd", .timeLimit(.minutes(5)))
struct BlueZAgentTests {
    private static let path = "/org/bluez/hci0/dev_00_AA_01_01_00_01"
    private let device: [BusValue] = [.text(Self.path)]
    private static let keyboard = BusValue.list([.text("00001812-0000-1000-8000-00805f9b34fb")])

    private func change(_ properties: [String: BusValue], _ bluez: isolated BlueZ) {
        bluez.take([
            .signal(
                sender: ":1.7", path: Self.path, interface: BlueZName.properties, member: "PropertiesChanged",
                arguments: [.text(BlueZName.device), .table(properties), .list([])])
        ])
    }

    /// Serves what takes a bond, to a device that has connected.
    private func serve(_ bluez: isolated BlueZ, offering services: BusValue = .list([])) async throws {
        bluez.owner = ":1.7"
        let service = BluetoothUUID("980c2f36-bde3-11e4-8dfc-aa07a5b093db")!
        let local = LocalService(
            uuid: service,
            characteristics: [
                LocalCharacteristic(uuid: service, properties: [.write, .notify], requiresEncryption: true)
            ])
        bluez.serving = Serving(
            application: BlueZApplication(local, Advertisement(service: service, localName: nil)), events: EventQueue(),
            pokes: AsyncStream.makeStream(of: Void.self).continuation, upkeep: Task {}, adapter: "/org/bluez/hci0",
            isOnAir: true)
        bluez.take([
            .signal(
                sender: ":1.7", path: "/", interface: BlueZName.objectManager, member: "InterfacesAdded",
                arguments: [
                    .text(Self.path),
                    .table([
                        BlueZName.device: .table([
                            "Adapter": .text("/org/bluez/hci0"), "Address": .text("00:AA:01:01:00:01"),
                            "Connected": .flag(true),
                            "UUIDs": services,
                        ])
                    ]),
                ])
        ])
    }

    @Test("the pairing agent lets no device pair that uses neither the service nor a connection of this program")
    func strangers() async {
        let bluez = BlueZ(adapter: "")
        #expect(await bluez.decide("RequestAuthorization", device)?.name == "org.bluez.Error.Rejected")
        #expect(await bluez.decide("RequestAuthorization", [])?.name == "org.bluez.Error.Rejected")
    }

    @Test("the pairing agent lets devices pair only for the requested time, however long the session is shared")
    func window() async throws {
        let bluez = BlueZ(adapter: "")
        try await serve(bluez)
        #expect(await bluez.decide("RequestAuthorization", device)?.name == "org.bluez.Error.Rejected")
        #expect(await bluez.newBonds.isEmpty)
        await bluez.check { $0.pairing = 1 }
        #expect(await bluez.decide("RequestAuthorization", device) == nil)
        #expect(await bluez.newBonds == [Self.path])
        await bluez.check { $0.newBonds = [] }
        await bluez.closePairing()
        #expect(await bluez.decide("RequestAuthorization", device)?.name == "org.bluez.Error.Rejected")
    }

    @Test("the pairing agent never lets a keyboard pair, and forgets one that is recognized only after pairing")
    func keyboard() async throws {
        let known = BlueZ(adapter: "")
        try await serve(known, offering: Self.keyboard)
        await known.check { $0.pairing = 1 }
        #expect(await known.decide("RequestAuthorization", device)?.name == "org.bluez.Error.Rejected")

        let hidden = BlueZ(adapter: "")
        try await serve(hidden)
        await hidden.check { $0.pairing = 1 }
        #expect(await hidden.decide("RequestAuthorization", device) == nil)
        await change(["UUIDs": Self.keyboard], hidden)
        while await !hidden.newBonds.isEmpty, !Task.isCancelled { await Task.yield() }
    }

    /// Connects the device and lets it pair.
    private func pair(with bluez: BlueZ) async throws -> CentralID {
        let id = CentralID(address: BluetoothAddress("00:AA:01:01:00:01", kind: .public)!, number: 1)
        await bluez.check {
            $0.pairing = 1
            $0.serving?.centrals[Self.path] = Serving.Central(id: id)
        }
        #expect(await bluez.decide("RequestAuthorization", device) == nil)
        return id
    }

    @Test("the pairing agent forgets the bond of a device that leaves without being let in, and keeps the others")
    func bonds() async throws {
        for isLetIn in [false, true] {
            let bluez = BlueZ(adapter: "")
            try await serve(bluez)
            let id = try await pair(with: bluez)
            if isLetIn { await bluez.keep(id) }
            #expect(await bluez.newBonds == (isLetIn ? [] : [Self.path]))
            await change(["Connected": .flag(false)], bluez)
            while await !bluez.newBonds.isEmpty, !Task.isCancelled { await Task.yield() }
        }
    }

    @Test("the pairing agent also forgets an admitted device that turns out to be a keyboard")
    func turncoat() async throws {
        let bluez = BlueZ(adapter: "")
        try await serve(bluez)
        let id = try await pair(with: bluez)
        await bluez.keep(id)
        await change(["Connected": .flag(false)], bluez)
        #expect(await bluez.keptBonds == [Self.path])
        await change(["UUIDs": Self.keyboard], bluez)
        #expect(await bluez.keptBonds.isEmpty)
        while await !bluez.newBonds.isEmpty, !Task.isCancelled { await Task.yield() }
    }

    @Test(
        "the pairing agent cannot show or compare numbers, and authorizes no other service",
        arguments: [
            "RequestConfirmation", "RequestPasskey", "RequestPinCode", "DisplayPasskey", "AuthorizeService", "Unknown",
        ])
    func refused(member: String) async {
        #expect(await BlueZ(adapter: "").decide(member, device)?.name == "org.bluez.Error.Rejected")
    }

    @Test("the pairing agent accepts Cancel and Release", arguments: ["Cancel", "Release"])
    func ended(member: String) async {
        #expect(await BlueZ(adapter: "").decide(member, []) == nil)
    }
}

extension BlueZ {
    fileprivate func check(_ body: @Sendable (isolated BlueZ) -> Void) { body(self) }
}
