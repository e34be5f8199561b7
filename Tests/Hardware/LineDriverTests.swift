import Foundation
import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "Button and LED behind the kernel's GPIO driver",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct LineDriverTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "lines", definition: "virtual-board") { definition in
            VirtualBoard.debouncing(VirtualBoard.withoutSensors(definition), milliseconds: 400)
        }
    }

    private func during(_ step: String) async throws -> [JSON] { try await Self.run.value.during(step) }

    private func events(_ lines: [JSON]) -> [String] { lines.compactMap { $0["event"]?.string } }

    @Test("button and LED are held by the agent, which a check does not mistake for another program")
    func held() async throws {
        let held = try await during("held")
        #expect(held.first?["value"]?.integer == 2)
        #expect(held.dropFirst().map { $0["event"]?.string } == ["present", "present"])
    }

    @Test("a bouncing button gives one press and one release, and the LED is seen from outside")
    func bouncing() async throws {
        let bouncing = try await during("bouncing")
        #expect(events(bouncing) == ["pressed", "observed", "released", "observed"])
        #expect(bouncing.map { $0["value"]?.integer } == [nil, 1, nil, 0])
        #expect(try #require(bouncing[2]["held"]?.integer) > 0)
    }

    @Test("a glitch of the button that ends where it began gives nothing")
    func glitch() async throws {
        #expect(try await events(during("glitch")) == [])
        #expect(try await events(during("again")) == ["pressed", "released"])
    }

    @Test("button and LED that are in use are reported with their user")
    func busy() async throws {
        let busy = try await during("busy")
        #expect(busy.map { $0["code"]?.string } == ["board.line-busy"])
        #expect(busy.first?["message"]?.string?.hasSuffix("is in use by latchkey") == true)
    }

    @Test("button and LED are released when the agent ends")
    func ended() async throws {
        let ended = try await during("ended")
        #expect(ended.first?["value"]?.integer == 0)
        #expect(ended.dropFirst().map { $0["event"]?.string } == ["present", "present"])
    }

    @Test("button and LED are held at rest by the resistor the definition asks for")
    func biased() async throws {
        let biased = try await during("biased")
        #expect(biased.compactMap { $0["value"]?.integer } == [0, 1])
        // A line that is active low and pulled down is a button that is down from the start.
        #expect(biased.count { $0["event"]?.string == "found-down" } == 1)
    }

    @Test("button and LED that may not be opened are reported so")
    func forbidden() async throws {
        let forbidden = try await during("forbidden")
        #expect(forbidden.map { $0["code"]?.string } == ["board.chip-forbidden", "board.chip-forbidden"])
    }

    @Test("button and LED that are missing are reported with the present ones")
    func missing() async throws {
        let missing = try await during("missing")
        #expect(
            missing.map { $0["message"]?.string } == [
                "no GPIO chip is labeled pinctrl-rp1; present: board",
                "no GPIO chip is labeled pinctrl-rp1; present: board",
                "GPIO chip board has no line GPIO17", "GPIO chip board has no line 7",
            ])
    }

    @Test("button and LED are worked through gpio-keys and leds-gpio, whose trigger is off meanwhile")
    func driven() async throws {
        let driven = try await during("driven").filter { $0["event"]?.string != "reading" }
        #expect(driven.prefix(2).map { $0["name"]?.string } == ["button", "led"])
        #expect(driven.prefix(2).map { $0["event"]?.string } == ["present", "present"])
        let worked = driven.filter { ["pressed", "observed", "released"].contains($0["event"]?.string) }
        #expect(events(worked) == ["pressed", "observed", "released", "observed"])
        #expect(worked.map { $0["value"]?.integer } == [nil, 1, nil, 0])
    }
}
