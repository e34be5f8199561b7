import Testing

@testable import Bluetooth

@Suite("Application exported to bluetoothd", .timeLimit(.minutes(5)))
struct BlueZApplicationTests {
    static let service = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d001")!
    static let uuid = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d002")!

    static func application(encrypted: Bool = false, name: String? = nil) -> BlueZApplication {
        let characteristic = LocalCharacteristic(
            uuid: uuid, properties: [.writeWithoutResponse, .notify, .indicate], requiresEncryption: encrypted)
        return BlueZApplication(
            LocalService(uuid: service, characteristics: [characteristic]),
            Advertisement(service: service, localName: name))
    }

    static func texts(_ argument: BusArgument?) -> [String]? {
        if case .texts(let texts) = argument { texts } else { nil }
    }

    static func text(_ argument: BusArgument?) -> String? {
        if case .text(let text) = argument { text } else { nil }
    }

    @Test("the exported application's characteristic takes writes without response, notify and indicate (MAG 8.1)")
    func objects() throws {
        let application = Self.application()
        let path = try #require(application.path(of: Self.uuid))
        #expect(application.characteristic(at: path) == Self.uuid)
        #expect(application.characteristic(at: path + "0") == nil)
        #expect(application.objects.map(\.interface) == [BlueZName.gattService, BlueZName.gattCharacteristic])
        let properties = application.properties(of: path, interface: BlueZName.gattCharacteristic) ?? []
        #expect(
            Self.texts(properties.first { $0.0 == "Flags" }?.1) == ["write-without-response", "notify", "indicate"])
        #expect(properties.contains { $0.0 == "NotifyAcquired" })
        #expect(application.properties(of: path, interface: BlueZName.gattService) == nil)
    }

    @Test("the exported application requires encryption for writes and subscriptions if configured")
    func encryption() {
        let characteristic = Self.application(encrypted: true).service.characteristics[0]
        #expect(
            BlueZFlags.flags(of: characteristic)
                == ["write-without-response", "encrypt-notify", "encrypt-indicate", "encrypt-write"])
    }

    @Test("the exported application advertises the service, its power and a name that fits (MAG 8.1)")
    func advertisement() throws {
        func properties(_ application: BlueZApplication) throws -> [String: BusArgument] {
            let properties = application.properties(
                of: BlueZApplication.advertisementPath, interface: BlueZName.advertisement)
            return Dictionary(uniqueKeysWithValues: try #require(properties))
        }
        let plain = try properties(Self.application(name: ""))
        #expect(plain.keys.sorted() == ["ServiceUUIDs", "Type"])
        #expect(Self.texts(plain["ServiceUUIDs"]) == [Self.service.description])
        var named = Self.application(name: "Küche und Wohnzimmer 12345 ööö")
        named.includesPower = true
        let full = try properties(named)
        #expect(Self.texts(full["Includes"]) == ["tx-power"])
        #expect(Self.text(full["LocalName"])?.utf8.count == 28)
    }

    @Test("the exported application never cuts a name within a character", arguments: 20...40)
    func cutting(_ count: Int) {
        let cut = BlueZApplication.cut(String(repeating: "ö", count: count))
        #expect(cut.utf8.count == 28)
        #expect(cut.allSatisfy { $0 == "ö" })
    }

    @Test("a peripheral's flags are read, and unknown ones ignored")
    func flags() {
        #expect(
            BlueZFlags.properties(of: ["write-without-response", "indicate", "authorize"])
                == [.writeWithoutResponse, .indicate])
    }
}

@Suite("An error of bluetoothd", .timeLimit(.minutes(5)))
struct BlueZErrorTests {
    @Test(
        "an error of bluetoothd becomes an error of this module",
        arguments: [
            ("org.freedesktop.DBus.Error.ServiceUnknown", "", BluetoothError.daemonMissing),
            ("org.freedesktop.DBus.Error.NameHasNoOwner", "", .daemonMissing),
            ("org.freedesktop.DBus.Error.AccessDenied", "rejected", .noPermission(operation: "scan")),
            ("org.freedesktop.DBus.Error.NoReply", "", .timedOut(operation: "scan")),
            ("org.bluez.Error.NotConnected", "", .disconnected),
            ("org.bluez.Error.NotReady", "", .failed(operation: "scan", reason: "the adapter is off")),
            (
                "org.bluez.Error.NotPermitted", "Maximum reached",
                .failed(operation: "scan", reason: "Maximum reached (NotPermitted)")
            ),
            ("org.bluez.Error.Failed", "", .failed(operation: "scan", reason: "Failed")),
        ])
    func meaning(_ name: String, _ text: String, _ expected: BluetoothError) {
        #expect(BluetoothError(BusFailure(name: name, text: text), operation: "scan") == expected)
    }

    @Test("an error of bluetoothd carries the attribute protocol's own code")
    func attributeProtocol() {
        let failure = BusFailure(name: "org.bluez.Error.Failed", text: "Operation failed with ATT error: 0x03")
        #expect(BluetoothError(failure, operation: "write") == .att(ATTErrorCode(rawValue: 0x03), operation: "write"))
        let odd = BusFailure(name: "org.bluez.Error.Failed", text: "ATT error: 0xzz")
        #expect(
            BluetoothError(odd, operation: "write") == .failed(operation: "write", reason: "ATT error: 0xzz (Failed)"))
    }
}
