import Testing

@testable import Bluetooth

@Suite("The objects of bluetoothd", .timeLimit(.minutes(5)))
struct BlueZObjectsTests {
    let service = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d001")!
    let characteristic = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d002")!

    static func adapter(_ name: String, _ address: String) -> (String, BusValue) {
        (
            "/org/bluez/\(name)",
            .table([BlueZName.adapter: .table(["Address": .text(address), "Powered": .flag(false)])])
        )
    }

    func device(_ extra: [String: BusValue] = [:]) -> BusValue {
        let properties: [String: BusValue] = [
            "Address": .text("C0:01:02:03:04:05"), "AddressType": .text("random"), "Adapter": .text("/org/bluez/hci0"),
            "UUIDs": .list([.text(service.description)]),
        ]
        return .table([BlueZName.device: .table(properties.merging(extra) { $1 })])
    }

    let path = "/org/bluez/hci0/dev_C0_01_02_03_04_05"

    func objects() -> BlueZObjects {
        var objects = BlueZObjects()
        _ = objects.reset(to: [
            .table(
                Dictionary(uniqueKeysWithValues: [
                    Self.adapter("hci10", "00:AA:01:00:00:10"), Self.adapter("hci1", "00:AA:01:01:00:01"),
                    (path, device()),
                ]))
        ])
        return objects
    }

    func added(_ path: String, _ object: BusValue, to objects: inout BlueZObjects) -> [BlueZObjects.Change] {
        objects.receive(
            path: "/", interface: BlueZName.objectManager, member: "InterfacesAdded", [.text(path), object])
    }

    func changed(
        _ path: String, _ interface: String, _ values: [String: BusValue], gone: [String] = [],
        in objects: inout BlueZObjects
    ) -> [BlueZObjects.Change] {
        objects.receive(
            path: path, interface: BlueZName.properties, member: "PropertiesChanged",
            [.text(interface), .table(values), .list(gone.map { .text($0) })])
    }

    @Test("the objects of bluetoothd name an adapter by its number, its address, or as the first of all")
    func adapters() {
        let objects = objects()
        #expect(objects.adapter(named: "") == "/org/bluez/hci1")
        #expect(objects.adapter(named: "hci10") == "/org/bluez/hci10")
        #expect(objects.adapter(named: "00:aa:01:00:00:10") == "/org/bluez/hci10")
        #expect(objects.adapter(named: "hci2") == nil)
        #expect(BlueZObjects().adapter(named: "") == nil)
    }

    @Test("the objects of bluetoothd distinguish a random address from a public one")
    func addresses() {
        let objects = objects()
        let address = BluetoothAddress("C0:01:02:03:04:05", kind: .random)!
        #expect(objects.address(ofDevice: path) == address)
        #expect(objects.device(of: "/org/bluez/hci0", address: address) == path)
        #expect(
            objects.device(of: "/org/bluez/hci0", address: BluetoothAddress("C0:01:02:03:04:05", kind: .public)!) == nil
        )
        #expect(objects.device(of: "/org/bluez/hci1", address: address) == nil)
    }

    @Test("the objects of bluetoothd make a sighting of a device that has a strength and advertises the service")
    func sightings() {
        var objects = objects()
        #expect(objects.sighting(ofDevice: path, service: service) == nil)
        #expect(
            changed(path, BlueZName.device, ["RSSI": .number(-61), "Name": .text("Küche")], in: &objects)
                == [.changed(path: path, interface: BlueZName.device, keys: ["RSSI", "Name"])])
        let sighting = objects.sighting(ofDevice: path, service: service)
        #expect(sighting?.rssi == -61)
        #expect(sighting?.name == "Küche")
        #expect(objects.sighting(ofDevice: path, service: characteristic) == nil)
        _ = changed(path, BlueZName.device, [:], gone: ["RSSI"], in: &objects)
        #expect(objects.sighting(ofDevice: path, service: service) == nil)
    }

    @Test("the objects of bluetoothd show a connection by resolved services when Connected is missing")
    func connections() {
        var objects = objects()
        #expect(!objects.isConnected(path))
        _ = changed(path, BlueZName.device, ["ServicesResolved": .flag(true)], in: &objects)
        #expect(objects.isConnected(path))
        _ = changed(path, BlueZName.device, ["Connected": .flag(false)], in: &objects)
        #expect(!objects.isConnected(path))
    }

    @Test("the objects of bluetoothd disappear one by one, and all at once with bluetoothd")
    func going() {
        var objects = objects()
        #expect(
            objects.receive(
                path: "/", interface: BlueZName.objectManager, member: "InterfacesRemoved",
                [.text(path), .list([.text(BlueZName.device), .text("org.bluez.Unheard1")])])
                == [.removed(path: path, interface: BlueZName.device)])
        #expect(changed(path, BlueZName.device, ["Connected": .flag(true)], in: &objects).isEmpty)
        #expect(objects.isPresent)
        #expect(objects.clear().count == 2)
        #expect(!objects.isPresent)
    }

    @Test("the objects of bluetoothd find a service's first characteristic, and whether to subscribe to it")
    func characteristics() {
        var objects = objects()
        func attribute(_ uuid: BluetoothUUID, _ interface: String, _ extra: [String: BusValue] = [:]) -> BusValue {
            .table([interface: .table(["UUID": .text(uuid.description)].merging(extra) { $1 })])
        }
        _ = added(path + "/service0030", attribute(service, BlueZName.gattService), to: &objects)
        _ = added(path + "/service0010", attribute(service, BlueZName.gattService), to: &objects)
        _ = added(path + "/service0030/char0031", attribute(characteristic, BlueZName.gattCharacteristic), to: &objects)
        #expect(
            objects.characteristic(ofDevice: path, service: service, characteristic: characteristic)
                == path + "/service0030/char0031")
        #expect(objects.mtu(ofDevice: path) == 23)
        let first = path + "/service0010/char0011"
        _ = added(first, attribute(characteristic, BlueZName.gattCharacteristic, ["MTU": .number(185)]), to: &objects)
        #expect(objects.characteristic(ofDevice: path, service: service, characteristic: characteristic) == first)
        #expect(!objects.hasConfigurationDescriptor(first))
        _ = added(first + "/desc0013", attribute(BluetoothUUID(short: 0x2902), BlueZName.gattDescriptor), to: &objects)
        #expect(objects.hasConfigurationDescriptor(first))
        #expect(objects.mtu(ofDevice: path) == 185)
        #expect(objects.characteristic(ofDevice: path, service: characteristic, characteristic: characteristic) == nil)
    }

    @Test(
        "the objects of bluetoothd ignore malformed signals",
        arguments: [
            ("InterfacesAdded", [BusValue.text("/x")]), ("InterfacesAdded", [.number(1), .number(2)]),
            ("InterfacesRemoved", [.text("/x"), .other]),
            ("InterfacesAdded", [.text("/x"), .table(["org.bluez.Device1": .other])]),
            ("PropertiesChanged", []), ("Whatever", [.flag(true)]),
        ])
    func malformed(_ member: String, _ arguments: [BusValue]) {
        var objects = objects()
        _ = objects.receive(path: "/", interface: BlueZName.objectManager, member: member, arguments)
        _ = objects.receive(path: "/", interface: BlueZName.properties, member: member, arguments)
        #expect(objects.adapter(named: "") == "/org/bluez/hci1")
        #expect(objects.sighting(ofDevice: "/x", service: service) == nil)
    }
}
