import Groundwork
import TestSupport
import Testing

/// Two phones at once, and how soon the board is on the air again. The agent has an adapter whose controller Bumble
/// emulates: nothing on its air is lost, and each change of its advertising is noted.
extension PhoneTests {
    /// What one of the two phones noted.
    private func notes(of phone: String, _ event: String, in exchange: Exchange) -> [JSON] {
        exchange.phone(event).filter { $0["phone"]?.string == phone }
    }

    @Test(
        "a phone in a crowd is asked about separately from another connected one, each by its name",
        arguments: Transport.allCases)
    func both(_ transport: Transport) async throws {
        let both = try await during("both", transport)
        let firstWrite = both.lines.firstIndex { $0["event"]?.string == "begun" } ?? 0
        let connected = both.lines[..<firstWrite].filter { $0["phone"] != nil && $0["event"]?.string == "connected" }
        #expect(Set(connected.map { $0["phone"]?.string }) == ["first", "second"])
        #expect(
            both.events("proximity.request-received").compactMap { $0["name"]?.string }.sorted() == ["first", "second"])
        #expect(
            both.events("proximity.consent-asked").compactMap { $0["name"]?.string }.sorted() == ["first", "second"])
        let centrals = both.events("proximity.central-connected").compactMap { $0["central"]?.string }
        #expect(Set(centrals).count == 2)
        #expect(
            centrals.sorted()
                == both.events("proximity.central-disconnected").compactMap { $0["central"]?.string }.sorted())
    }

    @Test("a phone in a crowd gets its own answer only", arguments: Transport.allCases)
    func ownAnswer(_ transport: Transport) async throws {
        let both = try await during("both", transport)
        let asked = both.events("proximity.consent-asked").compactMap { $0["name"]?.string }
        try #require(asked.count == 2)
        let values = asked.map { name in notes(of: name, "value", in: both).map { $0["value"]?.string } }
        #expect(values.first == ["0"])
        // bluetoothd sends to all that listen: the other one is hung up before, and its question withdrawn.
        #expect(values.last == (transport == .kernel ? ["2"] : []))
        let decisions = both.events("proximity.consent-answered").reduce(into: [String: String]()) {
            decisions, answer in
            decisions[answer["name"]?.string ?? ""] = answer["decision"]?.string
        }
        #expect(decisions == [asked[0]: "granted", asked[1]: transport == .kernel ? "refused" : "withdrawn"])
        #expect(both.events("proximity.session-authorized").compactMap { $0["name"]?.string } == [asked[0]])

        let other = try await during("other", transport)
        #expect(notes(of: asked[1], "value", in: other).map { $0["value"]?.string } == ["0"])
        #expect(other.events("proximity.session-authorized").compactMap { $0["name"]?.string } == [asked[1]])
    }

    @Test(
        "a phone in a crowd that was disconnected for a flood leaves no data to the next phone",
        arguments: Transport.allCases)
    func afterFlood(_ transport: Transport) async throws {
        let flood = try await during("air-flood", transport)
        #expect(flood.events("proximity.central-connected").count == 1)
        #expect(flood.events("proximity.central-hung-up").count == 1)
        let endless = try await during("air-endless", transport)
        #expect(endless.events("proximity.central-connected").count == 1)
        #expect(endless.events("proximity.central-hung-up").map { $0["reason"]?.string } == ["too-long"])
    }

    @Test(
        "a phone in a crowd that vanishes, floods or never ends leaves an agent that advertises again at once",
        arguments: Transport.allCases)
    func backOnAir(_ transport: Transport) async throws {
        for step in ["both", "other", "air-leave:begun", "air-flood", "air-endless"] {
            let exchange = try await during(step, transport)
            let ends = exchange.phone("disconnected").compactMap { $0["ms"]?.integer }
            let gone = try #require(ends.max(), "\(step)")
            let pause = try pause(since: gone, in: exchange)
            print("\(transport.rawValue): on the air \(pause) ms after the phone of “\(step)” has gone")
            // Asked for are 2 s; the processor is emulated and shared.
            #expect(pause < 10_000, "\(step)")
        }
    }

    @Test(
        "a phone in a crowd finds the agent again when the adapter is back, or bluetoothd",
        arguments: Transport.allCases)
    func backWithRadio(_ transport: Transport) async throws {
        let plugged = try await during("plugged", transport)
        let back = try #require(plugged.phone("plugged").first?["ms"]?.integer)
        let pause = try pause(since: back, in: plugged)
        print("\(transport.rawValue): on the air \(pause) ms after the adapter was plugged in")
        #expect(pause < 30_000)
        #expect(try await during("unplugged", transport).events("proximity.sharing-interrupted").isEmpty == false)

        guard transport == .bluez else { return }
        let steps = try await log(.bluez).lines.compactMap { $0["name"]?.string }.filter { $0.hasPrefix("restart-") }
        #expect(steps.count >= 2)
        for step in steps {
            let restart = try await during(step, .bluez)
            let pause = try self.pause(since: try #require(restart.observed("restarted").first), in: restart)
            print("bluez: on the air \(pause) ms after bluetoothd answers again (\(step))")
            #expect(pause < 30_000)
            #expect(restart.events("proximity.sharing-started").count == 1)
        }
    }

    /// From then until the board is on the air for good, in milliseconds; zero where it never left.
    private func pause(since time: Int64, in exchange: Exchange) throws -> Int64 {
        let last = try #require(exchange.phone("advertising").last?["ms"]?.integer)
        return max(0, last - time)
    }
}
