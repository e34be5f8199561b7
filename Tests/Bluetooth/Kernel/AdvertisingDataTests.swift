import Testing

@testable import Bluetooth

@Suite("Advertising data", .timeLimit(.minutes(5)))
struct AdvertisingDataTests {
    private let service = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d001")!

    @Test("advertising data has flags and the 128-bit service, and leaves three bytes for the transmit power")
    func packet() {
        let packet = AdvertisingData.packet(advertising: service)
        #expect(packet.prefix(5) == [2, 1, 6, 17, 7])
        #expect(packet.count + 3 <= AdvertisingData.capacity)
        #expect(AdvertisingData(parsing: packet).services == [service])
    }

    @Test("an advertised name goes into the scan response, shortened between characters if it is too long")
    func names() {
        #expect(AdvertisingData.scanResponse(name: nil).isEmpty)
        #expect(AdvertisingData.scanResponse(name: "").isEmpty)
        #expect(AdvertisingData.scanResponse(name: "probe") == [6, 9] + Array("probe".utf8))
        let long = AdvertisingData.scanResponse(name: String(repeating: "ä", count: 20))
        #expect(long.prefix(2) == [29, 8])
        #expect(AdvertisingData(parsing: long).name == String(repeating: "ä", count: 14))
    }

    @Test("a scan finds a service in its short forms too")
    func shortForms() {
        let both = [BluetoothUUID(short: 0x180D), BluetoothUUID(short: 0x180F)]
        #expect(AdvertisingData(parsing: [5, 3, 0x0D, 0x18, 0x0F, 0x18]).services == both)
        #expect(AdvertisingData(parsing: [5, 5, 0x0D, 0x18, 0, 0]).services == [BluetoothUUID(short: 0x180D)])
    }

    @Test("an advertising field longer than the rest ends parsing, and earlier fields count")
    func cut() {
        #expect(AdvertisingData(parsing: [3, 3, 0x0D, 0x18, 17, 7, 1, 2]).services == [BluetoothUUID(short: 0x180D)])
        #expect(
            AdvertisingData(parsing: [3, 3, 0x0D, 0x18, 0, 3, 3, 0x0F, 0x18]).services == [BluetoothUUID(short: 0x180D)]
        )
        #expect(AdvertisingData(parsing: [2, 3, 0x0D]).services.isEmpty)
    }

    @Test("a whole advertised name wins over a short one")
    func wholeName() {
        #expect(AdvertisingData(parsing: [2, 8, 0x61, 3, 9, 0x61, 0x62]).name == "ab")
        #expect(AdvertisingData(parsing: [3, 9, 0x61, 0x62, 2, 8, 0x61]).name == "ab")
    }
}
