import Testing

@testable import Bluetooth

@Suite("Pairing events and bonds", .timeLimit(.minutes(5)))
struct PairingTests {
    private let adapter = BluetoothAddress("00:AA:01:00:00:00", kind: .public)!
    private let peer = BluetoothAddress("C1:02:03:04:05:06", kind: .random)!
    private let resolvable = BluetoothAddress("5F:FE:2C:82:3D:09", kind: .random)!

    private func event(_ code: UInt8, _ parameters: [UInt8]) -> ManagementMessage.Event? {
        ManagementMessage(parsing: [code, 0, 0, 0, UInt8(parameters.count), 0] + parameters)?.event
    }

    private func key(_ hint: UInt8, kind: UInt8, size: UInt8 = 16) -> [UInt8] {
        [hint] + peer.managementBytes + [kind, 0, size] + [UInt8](repeating: 0x5A, count: 26)
    }

    @Test("a pairing key is reported with its kind, without the key itself")
    func key() {
        let event = event(0x0A, key(1, kind: 2))
        #expect(event == .longTermKey(peer, LongTermKey(isKept: true, kind: 2, size: 16)))
        #expect(!"\(String(describing: event))".contains("90"), "0x5A")
    }

    @Test(
        "only a whole key of LE Secure Connections that both sides keep is a bond",
        arguments: [
            (1, 2, 16, true), (1, 3, 16, true), (1, 0, 16, false), (1, 1, 16, false), (1, 4, 16, false),
            (0, 2, 16, false), (1, 2, 7, false),
        ] as [(UInt8, UInt8, UInt8, Bool)])
    func secure(hint: UInt8, kind: UInt8, size: UInt8, isSecure: Bool) {
        guard case .longTermKey(_, let key)? = event(0x0A, key(hint, kind: kind, size: size)) else {
            Issue.record("no key")
            return
        }
        #expect(key.isSecure == isSecure)
    }

    @Test("a pairing without numbers to compare is continued, any other is not")
    func confirmation() {
        #expect(event(0x0F, peer.managementBytes + [1, 0, 0, 0, 0]) == .confirmation(peer))
        #expect(event(0x0F, peer.managementBytes + [0, 1, 2, 3, 4]) == .other(0x0F))
        #expect(ManagementCommand.confirm(1, peer).bytes == [0x1C, 0, 1, 0, 7, 0] + peer.managementBytes)
    }

    @Test("a pairing identity comes with the address it was hidden behind")
    func identity() {
        let parameters = [1] + resolvable.kernelBytes + peer.managementBytes + [UInt8](repeating: 0, count: 16)
        #expect(event(0x18, parameters) == .identity(peer, from: resolvable))
    }

    @Test("a pairing event that is too short is refused", arguments: [0x0A, 0x0F, 0x11, 0x18])
    func cut(code: UInt8) {
        let least = [0x0A: 37, 0x0F: 8, 0x11: 7, 0x18: 14][code] ?? 0
        for length in 0..<least { #expect(event(code, [UInt8](repeating: 1, count: length)) == nil, "\(length) bytes") }
        #expect(event(code, [UInt8](repeating: 1, count: least)) != nil)
    }

    @Test("the pairing commands are what the kernel expects")
    func commands() {
        #expect(ManagementCommand.loadNoLongTermKeys(0).bytes == [0x13, 0, 0, 0, 2, 0, 0, 0])
        #expect(ManagementCommand.loadNoIdentities(0).bytes == [0x30, 0, 0, 0, 2, 0, 0, 0])
        #expect(
            ManagementCommand.unpair(0, peer, hangingUp: false).bytes == [0x1B, 0, 0, 0, 8, 0] + peer.managementBytes
                + [0])
        let key = (0..<16).map { UInt8($0) }
        #expect(ManagementCommand.setPrivacy(2, key: key).bytes == [0x2F, 0, 2, 0, 17, 0, 1] + key)
        #expect(ManagementCommand.setSimplePairing(0).bytes == [0x0B, 0, 0, 0, 1, 0, 1])
    }

    @Test("the last pairing counts, and goes with the adapter")
    func standing() {
        let bonds = Bonds()
        #expect(bonds.begin(adapter))
        #expect(!bonds.begin(adapter))
        #expect(bonds.standing(of: peer, on: adapter) == .unknown)
        #expect(bonds.note(LongTermKey(isKept: true, kind: 2, size: 16), of: peer, on: adapter) == nil)
        #expect(bonds.standing(of: peer, on: adapter) == .bonded)
        #expect(bonds.standing(of: peer, on: peer) == .unknown)
        _ = bonds.note(LongTermKey(isKept: true, kind: 0, size: 16), of: peer, on: adapter)
        #expect(bonds.standing(of: peer, on: adapter) == .weak)
        bonds.forget(adapter)
        #expect(bonds.standing(of: peer, on: adapter) == .unknown)
        #expect(bonds.begin(adapter))
    }

    @Test("a device that pairs under ever new addresses displaces the oldest bonds")
    func bound() {
        let bonds = Bonds()
        let peers = (0...Bonds.limit).map { BluetoothAddress(bytes: [0xC0, 0, 0, 0, 0, UInt8($0)], kind: .random) }
        let dropped = peers.map { bonds.note(LongTermKey(isKept: true, kind: 2, size: 16), of: $0, on: adapter) }
        #expect(dropped.dropLast().allSatisfy { $0 == nil })
        #expect(dropped.last == peers[0])
        #expect(bonds.standing(of: peers[0], on: adapter) == .unknown)
        #expect(bonds.standing(of: peers[1], on: adapter) == .bonded)
    }
}
