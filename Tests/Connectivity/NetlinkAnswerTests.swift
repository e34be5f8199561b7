import Testing

@testable import Connectivity

@Suite("An answer of the kernel")
struct NetlinkAnswerTests {
    /// A number as the machine has it.
    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    private static func attribute(_ type: UInt16, _ content: [UInt8]) -> [UInt8] {
        bytes(UInt16(content.count + 4)) + bytes(type) + content
            + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
    }

    private static func message(_ type: UInt16, _ body: [UInt8], sequence: UInt32 = 1, flags: UInt16 = 2) -> [UInt8] {
        bytes(UInt32(body.count + 16)) + bytes(type) + bytes(flags) + bytes(sequence) + bytes(UInt32(0)) + body
    }

    private static func link(_ name: String, family: UInt8 = 0, flags: UInt32 = 0x41) -> [UInt8] {
        message(
            16,
            [family, 0] + bytes(UInt16(1)) + bytes(Int32(2)) + bytes(flags) + bytes(UInt32(0))
                + attribute(3, Array(name.utf8) + [0]))
    }

    private static func route(to length: UInt8 = 0, _ attributes: [UInt8]) -> [UInt8] {
        message(24, [2, length, 0, 0, 254, 3, 0, 1] + bytes(UInt32(0)) + attributes)
    }

    private static func read(_ datagram: [UInt8]) -> NetlinkAnswer? {
        var answer = NetlinkAnswer()
        return answer.read(datagram, sequence: 1) ? answer : nil
    }

    @Test("a kernel's answer has links with or without carrier, and leaves out what bridges say of ports")
    func links() {
        let answer = Self.read(
            Self.link("eth0") + Self.link("eth1", flags: 1) + Self.link("port", family: 7)
                + Self.message(3, [0, 0, 0, 0]))
        #expect(answer?.snapshot.links.map(\.name) == ["eth0", "eth1"])
        #expect(answer?.snapshot.links.map(\.isRunning) == [true, false])
        #expect(answer?.isComplete == true)
    }

    @Test("a kernel's answer has the own address of a pair, and only addresses usable beyond the link")
    func addresses() {
        func address(scope: UInt8 = 0, flags: UInt32 = 0, _ attributes: [UInt8]) -> [UInt8] {
            Self.message(
                20, [2, 24, 0, scope] + Self.bytes(Int32(2)) + attributes + Self.attribute(8, Self.bytes(flags)))
        }
        let (own, peer) = (Self.attribute(2, [10, 0, 0, 1]), Self.attribute(1, [10, 0, 0, 2]))
        let answer = Self.read(
            address(own + peer) + address(scope: 253, own) + address(flags: 0x40, own) + address(flags: 0x44, own)
                + address(flags: 0x08, own))
        #expect(answer?.snapshot.addresses.map(\.bytes) == Array(repeating: [10, 0, 0, 1], count: 5))
        #expect(answer?.snapshot.addresses.map(\.isGlobal) == [true, false, false, true, false])
        #expect(Self.read(address(Self.attribute(2, [10, 0, 0]))) == nil)
        #expect(Self.read(address([])) == nil, "an address message without an address")
    }

    @Test("a kernel's answer has default routes alone, with their priority, and the first of several hops")
    func routes() {
        let link = Self.attribute(4, Self.bytes(Int32(2)))
        let hops = Self.attribute(9, Self.bytes(UInt16(8)) + [0, 0] + Self.bytes(Int32(7)))
        let answer = Self.read(
            Self.route(link + Self.attribute(6, Self.bytes(UInt32(100)))) + Self.route(to: 24, link) + Self.route(hops)
                + Self.route([]))
        #expect(answer?.snapshot.routes.map(\.index) == [2, 7])
        #expect(answer?.snapshot.routes.map(\.priority) == [100, 0])
    }

    @Test("a kernel's answer is refused when anything in it is shorter than it says")
    func damaged() {
        let whole = Self.link("eth0")
        for length in 1..<whole.count { #expect(Self.read(Array(whole.prefix(length))) == nil, "\(length) bytes") }
        #expect(Self.read(Self.link("../eth")) == nil, "a name that would be another file")
        #expect(Self.read(Self.link("sixteen-bytes-xx")) == nil)
        #expect(Self.read(Self.route(Self.attribute(4, [2, 0]))) == nil)
    }

    @Test("a kernel's answer reports refusals and network changes, and answers to others are left out")
    func endings() {
        let refused = Self.read(Self.message(2, Self.bytes(Int32(-13)) + [UInt8](repeating: 0, count: 16)))
        #expect(refused?.errorNumber == 13)
        #expect(refused?.isComplete == true)
        #expect(Self.read(Self.message(3, [0, 0, 0, 0], flags: 0x12))?.wasInterrupted == true)
        #expect(Self.read(Self.message(3, [0, 0, 0, 0], sequence: 9))?.isComplete == false)
    }
}
