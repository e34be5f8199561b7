import Foundation
import GatewayLab
import Glibc
import Storage
import TestSupport
import Testing

@testable import Messaging

@Suite(
    "A disk", .timeLimit(.minutes(20)), .enabled(if: PowerCutDisk.obstacle == nil, PowerCutDisk.obstacle ?? "possible"))
struct DiskTests {
    /// A killed agent leaves files of SQLite that one that was stopped removes, and that the next would have to make.
    @Test(
        "a disk that fills up refuses new messages with what to do, and loses none that were accepted",
        arguments: [SIGKILL, SIGTERM])
    func full(endedBy signal: Int32) async throws {
        try await withDisk { lab, board, disk in
            try await board.start()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker(abruptly: true)
            try disk.limit(Self.used(board.state.path) + 200_000)
            var accepted = 0
            var refusal: Program.Result?
            while refusal == nil, accepted < 2000 {
                let lines = (1...50).map { "\(accepted + $0) " + String(repeating: "x", count: 400) }
                let result = try await board.latchkey(
                    "publish", "--json", "--lines", "counter", input: lines.joined(separator: "\n"))
                if result.status == 0 {
                    accepted += lines.count
                } else {
                    let words = try #require(result.errors.firstMatch(of: /(\d+) messages accepted before/))
                    accepted += try #require(Int(words.1))
                    refusal = result
                }
            }
            #expect(refusal?.errors.contains("messaging.outbox-unusable") == true, "\(refusal?.errors ?? "none")")
            #expect(refusal?.errors.contains("the disk is full") == true)
            #expect(refusal?.errors.contains("free space") == true)
            #expect(accepted > 20)
            try await expectTold("is full", on: board)

            // It starts on the full disk and still tells.
            try await board.stop(signal)
            try board.launch()
            try await board.answers()
            try await expectTold("full", on: board)

            // And sends what waits, without anybody who frees space.
            try await lab.startBroker()
            _ = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            #expect(Set(DamageTests.numbers(at: lab)).isSuperset(of: 1...accepted))
            try await expectTold("full", on: board)
            let late = try await board.latchkey("publish", "--json", "late", "sent by a board with a full disk")
            #expect(late.status == 0, "\(late.errors)")

            try disk.limit(0)
            _ = try await board.ask("publish", "counter", "\(accepted + 1)")
            _ = try await board.status {
                $0.isConnected && $0.outbox?.depth == 0
            }
            #expect(DamageTests.numbers(at: lab).contains(accepted + 1))
            #expect(await lab.devices().count == 1)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: board.state.path).allSatisfy {
                    !$0.contains("damaged")
                })
        }
    }

    @Test("a disk without room for the outbox's prepared space takes the message, and loses none when full")
    func fullAhead() async throws {
        try await withPowerCutDisk { disk, _ in
            let path = "\(disk.path)/outbox.db"
            let file = try OutboxFile.open(at: path, policy: OutboxPolicy()).store
            var accepted: Int64 = 0
            func accept() throws {
                let message = OutgoingMessage(topic: try Topic("t"), payload: [UInt8](repeating: 0x78, count: 100))
                try file.transaction {
                    try file.append(
                        QueuedMessage(id: accepted + 1, message: message, acceptedAt: Date()), acceptedBytes: 0)
                }
                accepted += 1
            }
            try accept()
            file.log.cut()
            try disk.limit(Self.used(disk.path) + 3000)
            while accepted < 100, (try? accept()) != nil {}
            #expect((10..<50).contains(accepted))
            try disk.limit(0)
            for _ in 0..<10 { try accept() }
            #expect(try #require(try file.log.file?.size()) > file.log.tail)
            file.close()
            let again = try OutboxFile.open(at: path, policy: OutboxPolicy())
            #expect(again.setAside == nil)
            let found = try again.store.page(after: 0, limit: .max, bytes: .max).messages.map(\.id)
            #expect(found == Array(1...accepted))
            again.store.close()
        }
    }

    @Test("a full disk while the broker is late refuses the message, which may have been sent")
    func fullAtTheSpill() async throws {
        // Time enough for the broker of a busy machine.
        let settings = DamageTests.quiet + "\n[outbox]\nspill_milliseconds = 5000\n"
        try await withDisk(settings: settings) { lab, board, disk in
            try await board.start()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try disk.limit(Self.used(board.state.path))
            // While the broker answers nothing is written, so nothing is missing.
            _ = try await board.ask("publish", "counter", "1")
            await lab.suspendBroker()
            let refusal = try await board.latchkey(
                "publish", "--json", "counter", input: String(repeating: "2", count: 90_000))
            #expect(refusal.errors.contains("messaging.outbox-unusable"), "\(refusal.errors)")
            #expect(refusal.errors.contains("the disk is full"))
            var status = try await board.status()
            #expect(status.outbox?.accepted == 1 && status.outbox?.depth == 0)
            try disk.limit(0)
            await lab.resumeBroker()
            _ = try await board.ask("publish", "counter", "3")
            status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            #expect(status.outbox?.delivered == 2)
            #expect(Set(DamageTests.numbers(at: lab)).isSuperset(of: [1, 3]))
        }
    }

    @Test("a read-only disk lets the agent start and say so, and go on once it can be written")
    func readOnly() async throws {
        try await withDisk { lab, board, disk in
            try await board.start()
            let enrolled = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await board.stop()
            try Self.remount(disk.path, readOnly: true)
            try board.launch()
            try await board.answers()
            let status = try await board.status()
            #expect(status.vault?.error.code == "storage.read-only")
            try await expectTold("read-only", on: board)
            #expect(try await board.latchkey("publish", "--json", "counter", "1").errors.contains("storage.read-only"))

            try Self.remount(disk.path, readOnly: false)
            let after = try await board.status { $0.isConnected }
            #expect(after.registration.magIdentifier == enrolled.registration.magIdentifier)
            #expect(try await board.latchkey("publish", "counter", "1").status == 0)
        }
    }

    private func expectTold(_ words: String, on board: TestBoard) async throws {
        #expect(try await board.latchkey("status", "--json").output.contains(words))
        #expect(try await board.latchkey("status").output.contains(words))
        let doctor = try await board.latchkey("doctor", "--json")
        #expect(doctor.status == 1)
        #expect(try DamageTests.verdict("storage", in: doctor.json) == "fail")
        #expect(doctor.output.contains(words))
    }

    private static func used(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int
            return sum + (size ?? 0)
        }
    }

    private static func remount(_ path: String, readOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT | MS_BIND | (readOnly ? MS_RDONLY : 0))
        guard mount(nil, path, nil, flags, nil) == 0 else {
            throw Unexpected("cannot remount: \(String(cString: strerror(errno)))")
        }
    }
}

/// Gives `body` a lab and a board whose state directory is such a disk.
func withDisk(settings: String = DamageTests.quiet, _ body: (Lab, TestBoard, PowerCutDisk) async throws -> Void)
    async throws
{
    try await inTurn {
        let started = StartedPrograms()
        defer { started.endAll() }
        let lab = try await Lab.start()
        let board = try TestBoard(settings: settings)
        let disk = try PowerCutDisk(at: board.state.path)
        var failure: (any Error)?
        do {
            try await StartedPrograms.$here.withValue(started) { try await body(lab, board, disk) }
        } catch {
            failure = board.withLastWords(error)
        }
        try await board.stop(SIGKILL)
        disk.end()
        try await board.tearDown()
        await lab.stop()
        if let failure { throw failure }
    }
}
