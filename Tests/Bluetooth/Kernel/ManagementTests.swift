import Testing

@testable import Bluetooth

@Suite("Kernel management messages", .timeLimit(.minutes(5)))
struct ManagementTests {
    private let peer: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0xC1]
    private let service = BluetoothUUID("7d1f0b6e-52c3-4c0a-9f6e-1c61a2b7d001")!

    private func message(_ code: UInt16, index: UInt16 = 1, _ parameters: [UInt8]) -> [UInt8] {
        [
            UInt8(code & 0xff), UInt8(code >> 8), UInt8(index & 0xff), UInt8(index >> 8),
            UInt8(parameters.count & 0xff),
            UInt8(parameters.count >> 8),
        ] + parameters
    }

    @Test("a management command is a header of three little-endian numbers and its parameters")
    func command() {
        #expect(ManagementCommand.readIndexList.bytes == [3, 0, 0xff, 0xff, 0, 0])
        #expect(ManagementCommand.setPowered(1).bytes == [5, 0, 1, 0, 1, 0, 1])
        let address = BluetoothAddress("C1:02:03:04:05:06", kind: .random)!
        #expect(ManagementCommand.disconnect(0, address).bytes == [0x14, 0, 0, 0, 7, 0] + peer + [2])
    }

    @Test("a scan asks for one service, over LE, at any strength")
    func scan() {
        let command = ManagementCommand.startServiceDiscovery(0, service: service)
        #expect(command.bytes.prefix(10) == [0x3A, 0, 0, 0, 20, 0, 6, 127, 1, 0])
        #expect(command.bytes.dropFirst(10).elementsEqual(service.bytes.reversed()))
    }

    @Test("an advertisement is connectable, carries the transmit power and both data")
    func advertise() {
        let command = ManagementCommand.addAdvertising(0, instance: 1, data: [1, 2], scanResponse: [3])
        #expect(command.bytes == [0x3E, 0, 0, 0, 14, 0, 1, 0x11, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 2, 3])
    }

    @Test("a management answer names its command, and of a refused one only the status is kept")
    func answers() {
        let complete = ManagementMessage(parsing: message(1, [4, 0, 0, 7, 8]))
        #expect(complete?.event == .answer(opcode: 4, status: .success, parameters: [7, 8]))
        let gone = ManagementMessage(parsing: message(1, [4, 0, 0x11, 7]))
        #expect(gone?.event == .answer(opcode: 4, status: .invalidIndex, parameters: []))
        let refused = ManagementMessage(parsing: message(2, [0x3E, 0, 0x14]))
        #expect(refused?.event == .answer(opcode: 0x3E, status: .permissionDenied, parameters: []))
    }

    @Test("a found device comes with its strength and what it advertises")
    func found() {
        let data = AdvertisingData.packet(advertising: service) + AdvertisingData.scanResponse(name: "Küche")
        let event = ManagementMessage(
            parsing: message(0x12, peer + [2, 0xC4, 0, 0, 0, 0, UInt8(data.count), 0] + data))?.event
        guard case .found(let address, let rssi, let advertised) = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(address == BluetoothAddress("C1:02:03:04:05:06", kind: .random))
        #expect(rssi == -60)
        #expect(advertised.services == [service])
        #expect(advertised.name == "Küche")
    }

    @Test("the kernel's news of BR/EDR devices and of other things are passed over")
    func others() {
        #expect(ManagementMessage(parsing: message(0x12, peer + [0, 0xC4, 0, 0, 0, 0, 0, 0]))?.event == .other(0x12))
        #expect(ManagementMessage(parsing: message(0x17, []))?.event == .other(0x17))
    }

    @Test(
        "a management message shorter than it says, or than it must be, is refused",
        arguments: [0x01, 0x02, 0x06, 0x0B, 0x0C, 0x12, 0x13, 0x24])
    func cut(code: UInt16) {
        let whole = message(code, peer + [2, 0xC4, 0, 0, 0, 0, 3, 0, 2, 1, 6])
        for length in 0..<whole.count {
            #expect(ManagementMessage(parsing: whole.prefix(length)) == nil, "cut after \(length) bytes")
        }
        #expect(ManagementMessage(parsing: message(code, [])) == nil)
    }

    @Test("any bytes are read as management messages without a fault")
    func noise() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let noise = (0..<Int.random(in: 0...48)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = ManagementMessage(parsing: message(UInt16.random(in: 0...0x30), noise))
            _ = ManagementMessage(parsing: noise)
            _ = AdvertisingData(parsing: noise)
            _ = AdapterInformation(parsing: noise)
            _ = AdapterInformation.indexes(parsing: noise)
        }
    }

    @Test("an adapter's state has its address, its abilities and its switches")
    func adapter() throws {
        let state = try #require(
            AdapterInformation(parsing: [0, 0, 0, 1, 0xAA, 0, 9, 5, 0, 0xFF, 0xFF, 1, 0, 0x01, 0x02, 0, 0]))
        #expect(state.identity == BluetoothAddress("00:AA:01:00:00:00", kind: .public))
        #expect(state.supported.contains(.lowEnergy))
        #expect(KernelAdapter(index: 2, information: state).isReady)
        #expect(KernelAdapter(index: 2, information: state).name == "hci2")
        #expect(AdapterInformation(parsing: [UInt8](repeating: 0, count: 16)) == nil)
    }

    @Test("adapters are listed in the order of their numbers, and only as many as there are")
    func list() {
        #expect(AdapterInformation.indexes(parsing: [2, 0, 1, 0, 0, 0]) == [0, 1])
        #expect(AdapterInformation.indexes(parsing: [3, 0, 1, 0, 0, 0]) == nil)
    }

    @Test("an adapter is chosen by nothing, a number or an address")
    func names() {
        #expect(AdapterName("") == .first)
        #expect(AdapterName("hci12") == .index(12))
        #expect(AdapterName("00:aa:01:00:00:00") == .address([0, 0xAA, 1, 0, 0, 0]))
        for text in ["hci", "hci-1", "hci65535", "hci99999", "wlan0", "00:aa"] {
            #expect(AdapterName(text) == .unknown)
        }
    }
}
