import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// A row of the table: what goes wrong, what must be seen of it, and what ends it.
struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    var lives = Lives()
    var place = Scene.Place.loopback
    var settings = ""
    /// Whether readings can be published while it lasts; not by a process that is suspended.
    var takesReadings = true
    var identity = IdentityAfter.same
    /// How many attempts and requests it may cost.
    var attempts = 12
    var requests = 25
    /// Makes it.
    let strike: @Sendable (Scene) async throws -> Void
    /// Waits for what must be seen while it lasts.
    let seen: @Sendable (Scene) async throws -> Void
    /// Takes its cause away, or does what the agent said a person must do. Everything else is the agent's.
    let end: @Sendable (Scene) async throws -> Void

    var testDescription: String { name }

    enum IdentityAfter {
        case same
        /// The device is the same. It may have asked for another certificate just before its clock was right again, by
        /// which the answer was then good.
        case sameDevice
        /// The gateway gave the same device another certificate.
        case renewed
        /// The gateway does not know the device any more, and a person made it another.
        case another
    }

    static let all = network + portals + credentials + time
}

@Suite("Unattended faults", .timeLimit(.minutes(15)))
struct FaultTests {
    /// As many boards at once as a small machine can serve; most of them wait.
    private static let places = Places(6)

    @Test(
        "an unattended board recovers from each failure or says what to do, and loses nothing",
        arguments: Trouble.all.filter { $0.place == .loopback })
    func holds(_ trouble: Trouble) async throws { try await Self.play(trouble) }

    @Test(
        "a board recovers from network failures in its own namespace",
        .enabled(if: geteuid() == 0, "only root makes networks"),
        arguments: Trouble.all.filter { $0.place != .loopback })
    func holdsElsewhere(_ trouble: Trouble) async throws { try await Self.play(trouble) }

    private static func play(_ trouble: Trouble) async throws {
        var configuration = LabConfiguration()
        configuration.lives = trouble.lives
        try await places.run {
            try await Scene.with(configuration, place: trouble.place, settings: trouble.settings) { scene in
                try await act(trouble, scene)
            }
        }
    }

    /// How long a fault lasts at least: a loop without a pause would show by then.
    private static let leastSeconds = 5.0

    private static func act(_ trouble: Trouble, _ scene: Scene) async throws {
        try await scene.publish(20)
        try await scene.drained()
        let before = try await scene.identity()

        try scene.beginMeasuring()
        try await trouble.strike(scene)
        if trouble.takesReadings { try await scene.publish(20) }
        try await trouble.seen(scene)
        // An interval to measure in, not a wait for something to happen.
        try await Task.sleep(for: .seconds(max(0, leastSeconds - scene.effort().seconds)))
        let effort = try scene.effort()

        try await trouble.end(scene)
        let start = ContinuousClock.now
        try await scene.connected()
        let recovery = (ContinuousClock.now - start) / .seconds(1)
        try await scene.publish(20)
        // What was kept for a device that is no more has nobody to go to: it was deleted with the identity, and
        // counted.
        try await scene.drained(dropping: trouble.identity == .another ? 20 : 0)
        if trouble.identity == .another {
            #expect(scene.delivered.suffix(20) == Array((scene.published - 19)...scene.published))
        } else {
            #expect(scene.delivered == Array(1...scene.published))
        }
        #expect(try await scene.call().status == 0)
        check(try await scene.identity(), after: before, trouble.identity)
        #expect(await scene.lab.devices().count == 1)

        print(
            "fault: \(trouble.name): seen in \(figure(effort.seconds)) s, over in \(figure(recovery)) s;",
            "\(effort.attempts) attempts, \(effort.requests) requests, \(effort.connections) connections,",
            "\(figure(effort.processor)) s of the processor")
        #expect(effort.attempts <= trouble.attempts)
        #expect(effort.requests <= trouble.requests)
        #expect(effort.connections <= trouble.attempts + trouble.requests)
        // A loop without a pause would take all there is: half of a core for each of two, shared by the others.
        #expect(effort.processor <= 3 + effort.seconds / 8)
    }

    private static func check(_ after: Scene.Identity, after before: Scene.Identity, _ expected: Trouble.IdentityAfter)
    {
        switch expected {
        case .same: #expect(after == before)
        case .sameDevice:
            #expect((after.device, after.magIdentifier) == (before.device, before.magIdentifier))
        case .renewed:
            #expect((after.device, after.magIdentifier) == (before.device, before.magIdentifier))
            #expect(after.certificate != before.certificate)
        case .another: #expect(after.magIdentifier != before.magIdentifier)
        }
    }
}

func figure(_ value: Double) -> String { String(format: "%.1f", value) }
