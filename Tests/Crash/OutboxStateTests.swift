import Foundation
import GatewayLab
import Glibc
import Storage
import TestSupport
import Testing

@testable import Messaging

/// An agent that is killed while it opens an outbox that it cannot just go on with.
@Suite("Killed while an outbox is opened", .timeLimit(.minutes(20)))
struct OutboxStateTests {
    enum Before: Sendable {
        case databaseLost, damaged, newestFull, ofAnotherDevice
    }

    struct State: Sendable, CustomTestStringConvertible {
        let point: String
        let before: Before
        let meaning: String

        var testDescription: String { "\(point), \(before): \(meaning)" }
    }

    static let all = [
        State(point: "outbox-database-begun", before: .databaseLost, meaning: "the segments are found once more"),
        State(point: "outbox-database-committed", before: .databaseLost, meaning: "the segments are known"),
        State(point: "outbox-repaired", before: .damaged, meaning: "all is checked once more; nothing is there twice"),
        State(point: "outbox-segment-drafted", before: .newestFull, meaning: "the old segment goes on or is followed"),
        State(point: "outbox-segment-named", before: .newestFull, meaning: "the new segment is the newest"),
        State(point: "outbox-segment-begun", before: .newestFull, meaning: "the new segment is the newest"),
        State(point: "outbox-erasure-begun", before: .ofAnotherDevice, meaning: "nothing is sent, nothing is left"),
    ]

    @Test("a board killed while an outbox is opened recovers as the table says", arguments: all)
    func recovers(_ state: State) async throws {
        try await inTurn {
            try await withLabAndBoard(settings: DamageTests.quiet) { lab, board in
                _ = try await board.enroll(at: lab)
                _ = try await board.status { $0.isConnected }
                try await board.stop()
                try await run(state, lab, board)
            }
        }
    }

    private func run(_ state: State, _ lab: Lab, _ board: TestBoard) async throws {
        let reader = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
        let arrivals = try await reader.subscribe(to: "/2.0/client/users/alice/custom/#")
        let path = try prepare(state.before, in: board.state)
        board.environment = ["LATCHKEY_KILL_AT": state.point]
        let daemon = try board.launch()
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.lines.contains("killed at \(state.point)"))

        board.environment = [:]
        try await board.start()
        let status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
        _ = try await board.ask("publish", "--raw", "/2.0/client/users/alice/custom/end", "that is all")
        _ = try await arrivals.output.line(containing: "that is all")
        let numbers = arrivals.output.lines.filter { $0.hasPrefix("reading ") }.compactMap {
            Int($0.split(separator: " ")[1])
        }
        #expect(Set(numbers).count == numbers.count && numbers == numbers.sorted())
        let names = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
        #expect(names.contains { $0.contains(".damaged-") } == (state.before == .damaged), "\(names)")
        #expect(!names.contains { $0.hasSuffix("-new") }, "\(names)")
        switch state.before {
        case .databaseLost, .newestFull: #expect(numbers == Array(1...Self.count) && status.outbox?.dropped == 0)
        case .damaged:
            #expect((Self.count - 20..<Self.count).contains(numbers.count) && numbers.last == Self.count)
            #expect(status.outbox?.dropped == Self.count - numbers.count)
        case .ofAnotherDevice:
            #expect(numbers.isEmpty && status.outbox?.dropped == Self.count)
            for name in names where board.state.appending(path: name).path.hasPrefix(path) {
                let content = try Data(contentsOf: board.state.appending(path: name))
                #expect(content.firstRange(of: Data("reading".utf8)) == nil, "\(name)")
            }
        }
        try await arrivals.stop(SIGKILL)
    }

    private static let count = 300

    /// Makes an outbox in place of that of a board that is off.
    ///
    /// - Returns: its path.
    private func prepare(_ before: Before, in folder: URL) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("outbox-") }
        let name = try #require(names.first { $0.hasSuffix(".db") })
        for name in names { try FileManager.default.removeItem(at: folder.appending(path: name)) }
        let path = folder.appending(path: name).path
        let file = try OutboxFile.open(at: path, policy: OutboxPolicy()).store
        // Beyond a segment's 1 MiB where that matters.
        let bytes = before == .newestFull ? 4000 : 400
        try file.transaction {
            for number in 1...Self.count {
                let message = OutgoingMessage(
                    topic: try Topic("/2.0/client/users/alice/custom/t"),
                    payload: Array("reading \(number) ".utf8) + [UInt8](repeating: 0x78, count: bytes))
                try file.append(
                    QueuedMessage(id: Int64(number), message: message, acceptedAt: Date()), acceptedBytes: 0)
            }
        }
        if before == .ofAnotherDevice { try file.setOwner("another device") }
        file.close()
        let segment = file.log.name(1)
        switch before {
        case .databaseLost: for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
        case .damaged:
            let handle = try FileHandle(forUpdating: URL(filePath: segment))
            try handle.seek(toOffset: 60_000)
            try handle.write(contentsOf: Data("XXXX".utf8))
            try handle.close()
        case .newestFull, .ofAnotherDevice: break
        }
        return path
    }
}
