import Groundwork
import Testing

/// A stranger's keyboard and two phones pair with bluetoothd, while the agent shares and wants bonds. One board is
/// booted for all of these; each looks at its part of the log.
@Suite(
    "A keyboard that pairs with bluetoothd",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct KeyboardTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(
            of: "keyboard", definition: "virtual-board", controllers: 3, processors: 2,
            environment: try VirtualBoard.phone()
        ) { VirtualBoard.withoutSensors($0) }
    }

    /// How the keyboard goes about it: it pairs at once, when bluetoothd asks it to, or before it shows what it is.
    enum Conduct: String, CaseIterable, Sendable { case eager, patient, late }

    private func during(_ step: String) async throws -> Exchange {
        Exchange(lines: try await Self.run.value.during(step))
    }

    @Test("a keyboard cannot pair unless a person has requested it", arguments: Conduct.allCases)
    func uninvited(_ conduct: Conduct) async throws {
        let uninvited = try await during("uninvited-\(conduct.rawValue)")
        #expect(uninvited.phone("ended").count == 1)
        #expect(uninvited.phone("bonded").isEmpty)
        for thing in ["bonds", "inputs", "taken"] { #expect(uninvited.observed(thing) == [0], "\(thing)") }
    }

    @Test(
        "a keyboard is neither bonded nor the board's after connecting while phones may pair",
        arguments: Conduct.allCases)
    func invited(_ conduct: Conduct) async throws {
        let invited = try await during("invited-\(conduct.rawValue)")
        #expect(invited.observed("proximity") == [0])
        #expect(invited.phone("ended").count == 1)
        // Nobody can know before what this one is; its bond is taken back.
        if conduct == .late { #expect(invited.phone("bonded").count == 1) }
        for thing in ["bonds", "inputs", "taken"] { #expect(invited.observed(thing) == [0], "\(thing)") }
    }

    @Test("a keyboard does not affect bonds: an admitted phone keeps its own, a refused one has none")
    func phones() async throws {
        let phone = try await during("phone")
        #expect(phone.phone("bonded").count == 1)
        #expect(phone.phone("value").map { $0["value"]?.string } == ["0"])
        #expect(phone.events("proximity.session-authorized").count == 1)
        #expect(phone.observed("bonds") == [1])

        let stranger = try await during("stranger")
        #expect(stranger.phone("bonded").count == 1)
        #expect(stranger.observed("bonds") == [0])
    }

    @Test("a keyboard causes a warning of the doctor, until bluetoothd is set up to ignore keyboards")
    func doctor() async throws {
        for (step, verdict) in [("shared", "warn"), ("plugged", "pass")] {
            let checks = try await during(step).lines.compactMap { $0["checks"]?.array }.last ?? []
            #expect(checks.first { $0["name"]?.string == "bluetooth" }?["verdict"]?.string == verdict, "\(step)")
        }
    }
}
