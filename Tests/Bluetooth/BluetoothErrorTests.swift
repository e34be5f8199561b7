import Groundwork
import Testing

@testable import Bluetooth

@Suite("Errors of Bluetooth", .timeLimit(.minutes(5)))
struct BluetoothErrorTests {
    private let errors: [BluetoothError] = [
        .noAdapter(name: "hci1"), .blocked(adapter: "hci0", hard: true), .noPermission(operation: "scan"),
        .noLowEnergy(adapter: "hci0"), .daemonMissing, .disconnected, .timedOut(operation: "read a value"),
        .att(.insufficientEncryption, operation: "write a value"), .tooLong, .failed(operation: "scan", reason: "busy"),
        .stopped,
    ]

    @Test("errors of Bluetooth have a code and a sentence of their own")
    func codes() {
        #expect(Set(errors.map(\.code)).count == errors.count && errors.allSatisfy { $0.code.hasPrefix("bluetooth.") })
        #expect(Set(errors.map(\.message)).count == errors.count)
        #expect(BluetoothError.noAdapter(name: "").message == "there is no Bluetooth adapter")
    }

    @Test("errors of Bluetooth have a remedy for rfkill and pairing, and none if nothing can be done")
    func remedies() {
        #expect(BluetoothError.blocked(adapter: "hci0", hard: false).remedy == "rfkill unblock bluetooth")
        #expect(BluetoothError.att(.insufficientAuthentication, operation: "write").remedy == "pair the devices")
        #expect(BluetoothError.att(.invalidHandle, operation: "write").remedy == nil)
    }

    @Test("errors of Bluetooth name every code of the attribute protocol, known or not (Vol 3 Part F 3.4.1.1)")
    func attributeCodes() {
        #expect(Set((UInt8.min...UInt8.max).map { "\(ATTErrorCode(rawValue: $0))" }).count == 256)
        #expect("\(ATTErrorCode(rawValue: 0x80))" == "error 0x80" && "\(ATTErrorCode(rawValue: 0x0E))" == "error 0x0e")
    }
}
