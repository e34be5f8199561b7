import Groundwork
import TestSupport
import Testing

/// Phones that mean no good, or are broken.
extension PhoneTests {
    /// The steps of hostile phones in which nobody may be asked for consent.
    private static let unasked = ["leaving", "unreadable", "foreign", "flood", "endless", "noise", "silence"]

    @Test("a hostile phone causes no question if there is nothing to consent to", arguments: Transport.allCases)
    func nobodyAsked(_ transport: Transport) async throws {
        for step in Self.unasked {
            let exchange = try await during(step, transport)
            #expect(exchange.phone("ended").isEmpty == false, "\(step)")
            #expect(exchange.events("proximity.consent-asked").isEmpty, "\(step)")
            #expect(exchange.events("proximity.session-authorized").isEmpty, "\(step)")
        }
    }

    @Test("a hostile phone may vanish at any step", arguments: Transport.allCases)
    func vanishes(_ transport: Transport) async throws {
        let leaving = try await during("leaving", transport)
        #expect(
            leaving.phone("ended").map { $0["mode"]?.string }
                == ["leave:seen", "leave:connected", "leave:discovered", "leave:begun", "leave:unfinished"])
        let connected = leaving.events("proximity.central-connected").compactMap { $0["central"]?.string }
        // bluetoothd may not tell of one that leaves at once.
        #expect(connected.count >= 2)
        #expect(connected == leaving.events("proximity.central-disconnected").compactMap { $0["central"]?.string })

        // It may have left before anybody was asked.
        let withdrawn = try await during("withdrawn", transport)
        #expect(withdrawn.events("proximity.session-not-authorized").count == 1)
        let answers = withdrawn.events("proximity.consent-answered").map { $0["decision"]?.string }
        #expect(answers == withdrawn.events("proximity.consent-asked").map { _ in "withdrawn" })
        #expect(try await during("returned", transport).events("proximity.session-authorized").count == 1)
    }

    @Test(
        "a hostile phone is refused what cannot be read, is too long, or belongs to another gateway",
        arguments: Transport.allCases)
    func refused(_ transport: Transport) async throws {
        let refusals = [
            ("unreadable", ["not-utf8", "not-json"], Int64(650_002)), ("foreign", ["foreign-gateway"], 650_104),
            ("endless", ["too-long"], 650_002),
        ]
        for (step, reasons, number) in refusals {
            let exchange = try await during(step, transport)
            let events = exchange.events("proximity.request-refused")
            #expect(events.map { $0["code"]?.string } == reasons.map { "proximity.request-\($0)" }, "\(step)")
            #expect(events.allSatisfy { $0["error_android"]?.integer == 121 }, "\(step)")
            #expect(events.allSatisfy { $0["error_ios"]?.integer == number }, "\(step)")
        }
        for step in ["unreadable", "foreign"] {
            let values = try await during(step, transport).phone("value").map { $0["value"]?.string }
            #expect(values.isEmpty == false && values.allSatisfy { $0 == "1" }, "\(step)")
        }
    }

    @Test(
        "a hostile phone is disconnected when it keeps asking, or never finishes a request",
        arguments: Transport.allCases)
    func tooMuch(_ transport: Transport) async throws {
        let flood = try await during("flood", transport)
        #expect(flood.events("proximity.central-hung-up").map { $0["reason"]?.string } == ["too-many"])
        #expect(flood.events("proximity.request-refused").count <= 6)
        let endless = try await during("endless", transport)
        #expect(endless.events("proximity.central-hung-up").map { $0["reason"]?.string } == ["too-long"])
        #expect(try #require(endless.phone("written").first?["bytes"]?.integer) < 1 << 20)
    }

    @Test("a hostile phone is disconnected when it is silent for half a minute", arguments: Transport.allCases)
    func silent(_ transport: Transport) async throws {
        let silence = try await during("silence", transport)
        #expect(silence.events("proximity.central-hung-up").map { $0["reason"]?.string } == ["silent"])
        let begin = try #require(silence.phone("connected").first?["ms"]?.integer)
        let end = try #require(silence.phone("disconnected").first?["ms"]?.integer)
        #expect((28_000...45_000).contains(end - begin))
    }

    @Test(
        "a hostile phone may send noise, which is answered with an error or ends its connection",
        arguments: Transport.allCases)
    func noise(_ transport: Transport) async throws {
        let noise = try await during("noise", transport)
        #expect(noise.phone("alive").count == 1 || noise.phone("disconnected").count == 1)
        #expect(
            noise.events("proximity.central-connected").count == noise.events("proximity.central-disconnected").count)
        #expect(noise.events("proximity.request-received").isEmpty)
    }

    @Test("a hostile phone does not get a second authorization for the same URL", arguments: Transport.allCases)
    func replayed(_ transport: Transport) async throws {
        let replay = try await during("replay", transport)
        #expect(replay.phone("value").map { $0["value"]?.string } == ["0", "1"])
        #expect(replay.events("proximity.consent-asked").count == 1)
        #expect(replay.events("proximity.request-refused").map { $0["code"]?.string } == ["proximity.request-replayed"])
    }

    @Test("a hostile phone finds the agent again soon, whatever an earlier one did", arguments: Transport.allCases)
    func again(_ transport: Transport) async throws {
        let log = try await log(transport).lines
        // From the end of one exchange, or the order for the next if that came later, to when the board is seen.
        var free: Int64?
        var pauses: [Int64] = []
        for line in log where line["phone"]?.string == "central" || line["event"]?.string == "ordered" {
            guard let time = line["ms"]?.integer else { continue }
            switch line["event"]?.string {
            case "ordered", "ended": free = time
            case "seen":
                if let begin = free { pauses.append(time - begin) }
                free = nil
            default: break
            }
        }
        #expect(pauses.count >= 17)
        // The simulated controllers lose an advertisement now and then, and tell of each once.
        #expect(try #require(pauses.max()) < 30_000)
        #expect(pauses.sorted()[pauses.count / 2] < 2_000, "\(pauses) ms")
        #expect(try await during("after", transport).phone("ended").map { $0["status"]?.integer } == [0])
    }

    @Test("a hostile phone does not make the agent grow", arguments: Transport.allCases)
    func memory(_ transport: Transport) async throws {
        let before = try #require(try await during("nameless", transport).observed("memory").first)
        let after = try #require(try await during("after", transport).observed("memory").first)
        #expect(after - before < 3 * 1024, "KiB")
        // The kernel, left to itself, makes 2 MiB of the 24 KiB that some thread's stack has, sooner or later.
        #expect(try await during("after", transport).observed("huge-pages") == [0])
    }
}
