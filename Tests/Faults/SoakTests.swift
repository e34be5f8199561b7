import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// Hours of a board's life in minutes: its keep-alives, tokens, pauses and time limits run faster, the work does not.
///
/// `RECONNECTS=1000` makes the long form.
@Suite("Long soak of reconnections", .timeLimit(.minutes(60)))
struct SoakTests {
    private static let wanted = ProcessInfo.processInfo.environment["RECONNECTS"].flatMap(Int.init)
    private static let reconnects = wanted ?? 60
    /// Alone on a machine, a minute in a second: the time limit of 30 s for a connection becomes half a second. Beside
    /// other tests, which may keep it waiting for that long, a minute in three.
    private static let pace = wanted == nil ? 20 : 60

    @Test("connections that keep ending, with renewals and new tokens, leak neither memory nor descriptors")
    func reconnects() async throws {
        var configuration = LabConfiguration()
        configuration.givesSessionsToClients = true
        // Ten minutes of the board's.
        configuration.lives.accessToken = 600
        // By the wall clock, which keeps its pace; renewed after half of its life.
        configuration.lives.deviceCertificate = 20
        try await Scene.with(configuration, pace: Self.pace) { scene in
            let arrivals = scene.lab.arrivals.subscribe(bound: 4096)
            let start = ContinuousClock.now
            try scene.beginMeasuring()
            var samples: [Sample] = []
            for number in 1...Self.reconnects {
                try await Self.publish(number, on: scene.board)
                try await Self.arrival(of: number, in: arrivals)
                // Twelve seconds of the board's, after which a connection counts as steady.
                try await Task.sleep(for: .seconds(12) / Self.pace)
                samples.append(try Sample(of: scene))
                if number == Self.reconnects / 2 { try await Self.idle(scene) }
                if number.isMultiple(of: 3) { scene.broker.forget() } else { scene.broker.cut() }
                if number.isMultiple(of: 5) { scene.gateway.cut() }
            }
            try await scene.connected()
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let effort = try scene.effort()
            let counts = scene.lab.requestCounts
            let quarter = samples.count / 4
            let (early, late) = (
                Sample.typical(samples[quarter..<(2 * quarter)]), Sample.typical(samples.suffix(quarter))
            )
            // Eight points of its course, to see whether it goes on.
            let eighth = samples.count / 8
            let course = (0..<8).map { Sample.typical(samples[($0 * eighth)..<(($0 + 1) * eighth)]).anonymous }
            let hours = seconds * Double(Self.pace) / 3600
            print(
                "soak: \(Self.reconnects) reconnects in \(figure(seconds)) s, \(figure(hours)) h of the board's;",
                "\(effort.attempts) attempts, \(counts[.token, default: 0]) tokens, \(counts[.renewal, default: 0]) renewals;",
                "anonymous memory \(early.anonymous) kB in the second quarter, \(late.anonymous) kB in the last,",
                "its course \(course); descriptors \(early.descriptors) and \(late.descriptors),",
                "threads \(early.threads) and \(late.threads);",
                "\(figure(effort.processor)) s of the processor")
            #expect(counts[.token, default: 0] >= Self.reconnects / 60)
            #expect(counts[.renewal, default: 0] >= 1)
            #expect(effort.attempts <= Self.reconnects * 3 / 2 + 20)
            if !Program.isSanitized { #expect(late.anonymous <= early.anonymous + 1024) }
            #expect(late.descriptors <= early.descriptors + 2)
            #expect(late.threads <= early.threads + 2)
            #expect(await scene.lab.devices().count == 1)
        }
    }

    /// Publishes a reading, again where the agent had no patience: its local API's time limit for a request of 10 s has
    /// become a part of a second, too short for a machine with other work.
    private static func publish(_ number: Int, on board: TestBoard) async throws {
        let reading = #"{"topic":"\#(Scene.topic)","payload":"\#(number)"}"#
        for _ in 0..<50 {
            // One that was hung up on without an answer is as good as one answered 408.
            let status = try? await LocalRequest.post(reading, to: "/v1/messages", socket: board.socket)
            if status == 202 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Unexpected("reading \(number) was not accepted")
    }

    private static func arrival(of number: Int, in arrivals: AsyncStream<LabMessage>) async throws {
        _ = try await Acceptance.within(180, "reading \(number)") {
            for await message in arrivals where message.topic.hasSuffix("/custom/\(Scene.topic)") {
                if Int(String(decoding: message.payload, as: UTF8.self)) == number { return true }
            }
            throw Unexpected("the lab has ended")
        }
    }

    /// Five minutes of the board's in which nothing is sent but what keeps the connection alive.
    private static func idle(_ scene: Scene) async throws {
        try await scene.connected()
        let before = try scene.effort()
        // An interval to measure in, not a wait for something to happen.
        try await Task.sleep(for: .seconds(300) / Self.pace)
        #expect(try scene.effort().attempts == before.attempts)
    }

    private struct Sample {
        /// In kilobytes.
        var anonymous: Int
        var descriptors: Int
        var threads: Int

        init(anonymous: Int, descriptors: Int, threads: Int) {
            (self.anonymous, self.descriptors, self.threads) = (anonymous, descriptors, threads)
        }

        init(of scene: Scene) throws {
            guard let process = scene.board.daemon?.processIdentifier else {
                throw Unexpected("the daemon does not run")
            }
            let memory = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
            let line = memory.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
            anonymous = line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
            threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
        }

        /// The median of each.
        static func typical(_ samples: ArraySlice<Sample>) -> Sample {
            func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }
            return Sample(
                anonymous: median(samples.map(\.anonymous)), descriptors: median(samples.map(\.descriptors)),
                threads: median(samples.map(\.threads)))
        }
    }
}
