import Testing

@testable import Bluetooth

@Suite("The agent that bluetoothd asks who may pair", .timeLimit(.minutes(1)))
struct BlueZAgentTests {
    private let device: [BusValue] = [.text("/org/bluez/hci0/dev_00_AA_01_01_00_01")]

    @Test("lets nobody pair who uses neither the service nor a connection of this program")
    func strangers() async {
        let bluez = BlueZ(adapter: "")
        #expect(await bluez.decide("RequestAuthorization", device)?.name == "org.bluez.Error.Rejected")
        #expect(await bluez.decide("RequestAuthorization", [])?.name == "org.bluez.Error.Rejected")
    }

    @Test("has no numbers to show or to compare, and lets no other service in",
        arguments: ["RequestConfirmation", "RequestPasskey", "RequestPinCode", "DisplayPasskey", "AuthorizeService", "Unknown"])
    func refused(member: String) async {
        #expect(await BlueZ(adapter: "").decide(member, device)?.name == "org.bluez.Error.Rejected")
    }

    @Test("takes the end of a question, or of its office, without more ado", arguments: ["Cancel", "Release"])
    func ended(member: String) async {
        #expect(await BlueZ(adapter: "").decide(member, []) == nil)
    }
}
