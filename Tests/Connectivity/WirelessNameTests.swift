import Testing

@testable import Connectivity

@Suite("Name of a wireless network")
struct WirelessNameTests {
    @Test("only a wireless link has a name")
    func others() {
        #expect(NetworkWay(interface: "lo", kind: .other).wirelessName == nil)
        for interface in ["lo", "", "no-such-interface-here"] {
            #expect(NetworkWay(interface: interface, kind: .wifi).wirelessName == nil)
        }
    }

    @Test(
        "a name is shown as text, whatever its bytes are",
        arguments: [
            ("Plant 2", "Plant 2"), ("Caf\u{E9}", "Caf\u{E9}"), ("old\0", "old"), ("", nil), ("\0\0", nil),
        ])
    func text(name: String, shown: String?) {
        #expect(NetworkWay.text(ofName: Array(name.utf8)) == shown)
    }

    @Test("a name that a terminal would obey is cleaned")
    func cleaned() {
        #expect(NetworkWay.text(ofName: [0x41, 0x1B, 0x5B, 0x32, 0x4A, 0xFF])?.utf8.contains(0x1B) == false)
    }
}
