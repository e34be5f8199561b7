import Testing

@testable import Bluetooth

@Suite("Signals during GetManagedObjects", .timeLimit(.minutes(5)))
struct BlueZOrderTests {
    private static let owner = ":1.7"
    private static let adapter: [String: BusValue] = [BlueZName.adapter: .table(["Powered": .flag(false)])]

    private static func told(_ member: String, _ argument: BusValue) -> BusConnection.Incoming {
        .signal(
            sender: owner, path: "/", interface: BlueZName.objectManager, member: member,
            arguments: [.text("/org/bluez/hci0"), argument])
    }

    /// The answer to `GetManagedObjects`, as it comes in.
    private static func answer(
        _ objects: [String: BusValue], of owner: String = owner, _ bluez: isolated BlueZ
    ) -> BusConnection.Incoming {
        .reply(.success([.table(objects)])) { bluez.takeObjects($0, of: owner) }
    }

    @Test("a signal after GetManagedObjects' answer counts: a new adapter is there, a removed one is not")
    func later() async {
        let bluez = BlueZ(adapter: "hci0")
        await bluez.check {
            $0.owner = Self.owner
            $0.take([Self.answer([:], $0), Self.told("InterfacesAdded", .table(Self.adapter))])
            #expect($0.objects.adapter(named: "hci0") == "/org/bluez/hci0")
            $0.take([
                Self.answer(["/org/bluez/hci0": .table(Self.adapter)], $0),
                Self.told("InterfacesRemoved", .list([.text(BlueZName.adapter)])),
            ])
            #expect($0.objects.adapter(named: "hci0") == nil)
        }
    }

    @Test("a signal before GetManagedObjects' answer is already part of it")
    func earlier() async {
        let bluez = BlueZ(adapter: "hci0")
        await bluez.check {
            $0.owner = Self.owner
            $0.take([
                Self.told("InterfacesAdded", .table(Self.adapter)),
                Self.told("InterfacesRemoved", .list([.text(BlueZName.adapter)])),
                Self.answer(["/org/bluez/hci0": .table(Self.adapter)], $0),
            ])
            #expect($0.objects.adapter(named: "hci0") == "/org/bluez/hci0")
        }
    }

    @Test("only the present owner of bluetoothd's name counts, from its first signal on")
    func newOwner() async {
        let bluez = BlueZ(adapter: "hci0")
        await bluez.check {
            $0.owner = ":1.3"
            $0.take([
                .signal(
                    sender: BlueZName.bus, path: BlueZName.busPath, interface: BlueZName.bus,
                    member: "NameOwnerChanged",
                    arguments: [.text(BlueZName.service), .text(":1.3"), .text(Self.owner)]),
                Self.told("InterfacesAdded", .table(Self.adapter)),
                Self.answer([:], of: ":1.3", $0),
            ])
            #expect($0.owner == Self.owner)
            #expect($0.objects.adapter(named: "hci0") == "/org/bluez/hci0")
        }
    }
}

extension BlueZ {
    fileprivate func check(_ body: @Sendable (isolated BlueZ) -> Void) { body(self) }
}
