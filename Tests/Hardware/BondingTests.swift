import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "A Bluetooth service for bonded devices",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct BondingTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "bonding", definition: "virtual-board", controllers: 2) {
            VirtualBoard.withoutSensors($0)
        }
    }

    private static let adapter = "00:AA:01:00:00:00"
    private static let other = "00:AA:01:01:00:01"

    private func during(_ step: String) async throws -> [JSON] { try await Self.run.value.during(step) }

    private func events(_ name: String, in lines: [JSON]) -> [JSON] { lines.filter { $0["event"]?.string == name } }

    private func observed(_ name: String, in lines: [JSON]) -> [Int64] {
        events("observed", in: lines).filter { $0["name"]?.string == name }.compactMap { $0["value"]?.integer }
    }

    /// The address of each central that had the value it waited for.
    private func answered(in lines: [JSON]) -> [String] {
        events("answered", in: lines).compactMap { $0["central"]?.string?.split(separator: "#").first.map(String.init) }
    }

    @Test("a protected service refuses a central until it has paired; the next time the bond is enough")
    func bonded() async throws {
        let bonded = try await during("bonded")
        #expect(observed("login", in: bonded) == [0])
        #expect(events("answer", in: bonded).map { $0["text"]?.string } == ["0", "0"])
        #expect(events("discovered", in: bonded).map { $0["subscribed"]?.bool } == [true, true])
        #expect(answered(in: bonded) == [Self.other, Self.other])
    }

    @Test("a protected service pairs again with a device that has lost its bond")
    func forgotten() async throws {
        let forgotten = try await during("forgotten")
        #expect(observed("login", in: forgotten) == [0])
        #expect(answered(in: forgotten) == [Self.other])
    }

    @Test("a protected service accepts a central with a private address, then recognizes it by its bond")
    func hidden() async throws {
        let hidden = try await during("hidden")
        #expect(observed("login", in: hidden) == [0])
        let centrals = answered(in: hidden)
        #expect(centrals.count == 2)
        #expect(centrals.first != Self.other)
        #expect(centrals.last == Self.other)
    }

    @Test("a protected service lets no central write or subscribe that cannot pair")
    func refused() async throws {
        let refused = try await during("refused")
        #expect(observed("bondable", in: refused) == [0])
        #expect(observed("login", in: refused) == [1])
        #expect(events("failed", in: refused).map { $0["code"]?.string } == ["bluetooth.refused"])
        #expect(events("connected", in: refused).count == 2)
        #expect(events("subscribed", in: refused) + events("request", in: refused) == [])
    }

    @Test("a protected service does not accept a legacy bond as one of LE Secure Connections")
    func legacy() async throws {
        let legacy = try await during("legacy")
        #expect(observed("sc", in: legacy) == [0])
        #expect(observed("login", in: legacy) == [1])
        #expect(events("discovered", in: legacy).map { $0["subscribed"]?.bool } == [false])
        #expect(events("subscribed", in: legacy) + events("request", in: legacy) == [])
    }

    @Test("a protected service is found and used under a private address")
    func hiddenAddress() async throws {
        let lines = try await during("private")
        let sighted = try #require(events("sighted", in: lines).first?["address"]?.string)
        #expect(sighted != Self.adapter)
        // A resolvable private address (Vol 6 Part B 1.3.2.2).
        let first = try #require(sighted.split(separator: ":").first.flatMap { UInt8($0, radix: 16) })
        #expect(first >> 6 == 0b01)
        #expect(observed("login", in: lines) == [0])
        #expect(events("answer", in: lines).map { $0["text"]?.string } == ["0"])
    }
}
