import Foundation
import GatewayLab
import TestSupport
import Testing

/// A message is safe when the broker or the disk has it, whichever is first.
@Suite("The promise to a publisher", .timeLimit(.minutes(15)))
struct PromiseTests {
    private static let quiet = "[telemetry]\nenabled = false"

    private func publish(_ text: String, on board: TestBoard) async throws -> Int {
        try await LocalRequest.post(
            #"{"topic":"counter","payload":"\#(text)"}"#, to: "/v1/messages", socket: board.socket)
    }

    /// The files of the outbox, each with its size and when it was last written.
    private func files(of board: TestBoard) throws -> [String: [String]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
        return try names.filter { $0.hasPrefix("outbox-") && !$0.hasSuffix("-shm") }.reduce(into: [:]) { files, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: board.state.appending(path: name).path)
            files[name] = [FileAttributeKey.size, .modificationDate].map { "\(attributes[$0] ?? "")" }
        }
    }

    /// The numbers that reached the broker, in order, repetitions left out.
    private func numbers(at lab: Lab) -> [Int] {
        var seen: Set<Int> = []
        return lab.messages.filter { $0.topic.hasSuffix("/custom/counter") }
            .compactMap { Int(String(decoding: $0.payload, as: UTF8.self)) }.filter { seen.insert($0).inserted }
    }

    @Test("while the broker answers, a message is accepted when the broker has it, and never written to disk")
    func connected() async throws {
        try await withLabAndBoard(settings: Self.quiet + "\n[outbox]\nspill_milliseconds = 10000") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let acknowledged = try #require(try await board.drained().broker?.acknowledged)
            let before = try files(of: board)
            // The database, its log, and a segment.
            #expect(before.count == 3)
            for number in 1...200 { #expect(try await publish("\(number)", on: board) == 202) }
            #expect(try files(of: board) == before)
            let status = try await board.status()
            #expect(status.outbox?.delivered == 200)
            #expect(status.broker?.acknowledged == acknowledged + 200)
            #expect(numbers(at: lab) == Array(1...200))
        }
    }

    @Test("when the broker does not answer, an accepted message is on the disk and survives a kill")
    func frozen() async throws {
        try await withLabAndBoard(settings: Self.quiet) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            #expect(try await publish("1", on: board) == 202)
            await lab.suspendBroker()
            let start = ContinuousClock.now
            #expect(try await publish("2", on: board) == 202)
            let taken = ContinuousClock.now - start
            #expect(taken >= .milliseconds(250) && taken < .seconds(45), "\(taken)")
            #expect(try await board.status().outbox?.unwritten == 0)
            for number in 3...5 { #expect(try await publish("\(number)", on: board) == 202) }
            try await board.stop(SIGKILL)
            await lab.resumeBroker()
            try await board.start()
            _ = try await board.drained()
            #expect(numbers(at: lab) == Array(1...5))
        }
    }

    @Test("without a broker, accepted messages are on the disk, and readings are written in the end")
    func away() async throws {
        let settings = "[telemetry]\ntopic = \"readings\"\n[outbox]\nflush_seconds = 3600"
        try await withLabAndBoard(settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker(abruptly: true)
            _ = try await board.status { !$0.isConnected }
            var status = try await board.status { $0.outbox?.unwritten ?? 0 >= 1 }
            #expect(status.outbox?.flushSeconds == 3600)
            #expect(
                try await board.latchkey("status").output.contains(
                    "a power cut loses readings of the last 3600 seconds"))
            #expect(try await publish("1", on: board) == 202)
            try await board.stop(SIGKILL)
            try await board.start()
            status = try await board.status { $0.outbox?.unwritten ?? 0 >= 1 }
            // The message, and the readings that were written with it.
            let depth = try #require(status.outbox?.depth)
            #expect(depth - (status.outbox?.unwritten ?? 0) >= 1)
            #expect(try await board.stop() == 0)
            try await board.start()
            // A stop in good order has written all.
            status = try await board.status { $0.outbox?.depth != nil }
            #expect(status.outbox?.depth ?? 0 >= depth)
            try await lab.startBroker()
            _ = try await board.drained()
            #expect(numbers(at: lab) == [1])
        }
    }
}
