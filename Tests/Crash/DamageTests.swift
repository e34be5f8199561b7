import Foundation
import GatewayLab
import Glibc
import Storage
import TestSupport
import Testing

/// A board whose files are damaged while it is off.
@Suite("A damaged database after a crash", .timeLimit(.minutes(20)))
struct DamageTests {
    enum Damage: String, CaseIterable, Sendable {
        case tornTail = "its tail is torn off"
        case zeroedTail = "its tail is zeroed"
        case zeroedMiddle = "a part in the middle is zeroed"
        case overwrittenHead = "its head is something else"

        func strike(_ path: String) throws {
            var bytes = try Data(contentsOf: URL(filePath: path))
            // Whole pages, from 2/3 of the file on or around its half.
            let page = 4096
            let (third, half) = (bytes.count / 3 / page * page, bytes.count / 2 / page * page)
            switch self {
            case .tornTail: bytes = bytes.prefix(2 * third + 100)
            case .zeroedTail: bytes.resetBytes(in: 2 * third..<bytes.count)
            case .zeroedMiddle: bytes.resetBytes(in: half..<min(half + 2 * page, bytes.count))
            case .overwrittenHead: bytes.replaceSubrange(0..<100, with: Data(repeating: 0x41, count: 100))
            }
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: bytes)
            try file.close()
        }
    }

    static let quiet = "[telemetry]\nenabled = false"

    @Test("a damaged outbox is set aside and reported, and what can be read of it is sent", arguments: Damage.allCases)
    func outbox(_ damage: Damage) async throws {
        try await withWaitingMessages { lab, board, outbox in
            let segment = try #require(try segments(of: outbox).first)
            try damage.strike(segment)
            let damaged = try Data(contentsOf: URL(filePath: segment))
            try await lab.startBroker()
            try await board.start()
            let status = try await board.status {
                $0.isConnected && $0.outbox?.depth == 0
            }
            // It is kept as it is, and told of until a person has taken it away.
            let name = try #require(status.outbox?.setAside)
            #expect(try Data(contentsOf: URL(filePath: name)) == damaged)
            try await expectWarning(of: URL(filePath: name).lastPathComponent, on: board)
            // The registration lies elsewhere and is as it was.
            #expect(status.registration.state == "registered")
            #expect(await lab.devices().count == 1)

            let rescued = try #require(status.outbox?.rescued)
            let numbers = Self.numbers(at: lab)
            #expect(numbers.count == rescued)
            #expect(numbers == numbers.sorted())
            switch damage {
            case .tornTail, .zeroedTail: #expect((150...280).contains(rescued), "\(rescued)")
            case .zeroedMiddle: #expect((280..<300).contains(rescued) && numbers.last == 300, "\(rescued)")
            // The messages are behind it.
            case .overwrittenHead: #expect((280...300).contains(rescued) && numbers.last == 300, "\(rescued)")
            }
            _ = try await board.ask("publish", "counter", "1000")
            _ = try await board.status { $0.outbox?.depth == 0 }
            #expect(Self.numbers(at: lab).last == 1000)
            // Another start does not forget it.
            try await board.stop()
            try await board.start()
            try await expectWarning(of: URL(filePath: name).lastPathComponent, on: board)
        }
    }

    @Test(
        "an outbox that ends torn or in zeros after a kill loses only what was torn, and is not set aside",
        arguments: [
            Damage.tornTail, .zeroedTail,
        ])
    func log(_ damage: Damage) async throws {
        try await withWaitingMessages(stopping: SIGKILL) { lab, board, outbox in
            let segment = try #require(try segments(of: outbox).first)
            #expect(try Data(contentsOf: URL(filePath: segment)).count > 100_000)
            try damage.strike(segment)
            try await lab.startBroker()
            try await board.start()
            let status = try await board.status {
                $0.isConnected && $0.outbox?.depth == 0
            }
            #expect(status.outbox?.setAside == nil)
            let numbers = Self.numbers(at: lab)
            #expect(numbers == Array(1..<numbers.count + 1))
            #expect((100..<300).contains(numbers.count), "\(numbers.count)")
        }
    }

    @Test("an outbox whose database is damaged sends all messages, and the database is set aside and reported")
    func outboxDatabase() async throws {
        try await withWaitingMessages { lab, board, outbox in
            try Damage.overwrittenHead.strike(outbox)
            try await lab.startBroker()
            try await board.start()
            let status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            let name = try #require(status.outbox?.setAside)
            try await expectWarning(of: URL(filePath: name).lastPathComponent, on: board)
            #expect(Self.numbers(at: lab) == Array(1...300))
            #expect(status.outbox?.dropped == 0)
        }
    }

    @Test(
        "a damaged vault is set aside and reported, the outbox is untouched, and the board can be enrolled",
        arguments: Damage.allCases)
    func vault(_ damage: Damage) async throws {
        try await withWaitingMessages { lab, board, outbox in
            let path = board.state.appending(path: "vault.db").path
            try damage.strike(path)
            let (damaged, waiting) = (
                try Data(contentsOf: URL(filePath: path)), try Data(contentsOf: URL(filePath: outbox))
            )
            try await board.start()
            let status = try await board.status()
            #expect(status.lastError?.event == "vault.set-aside")
            let name = try #require(status.setAside?.first)
            #expect(name.hasPrefix("vault.db.damaged-"))
            #expect(try Data(contentsOf: board.state.appending(path: name)) == damaged)
            #expect(try Data(contentsOf: URL(filePath: outbox)) == waiting)
            try await expectWarning(of: name, on: board)
            try await lab.startBroker()
            let enrolled = try await board.enroll(at: lab)
            #expect(enrolled.registration.state == "registered")
        }
    }

    @Test("a damaged vault with a slot of an unknown kind stays, and the agent ends with the reason")
    func vaultOfUnknownKind() async throws {
        let board = try TestBoard()
        try await board.start()
        try await board.stop()
        let path = board.state.appending(path: "vault.db").path
        let vault = try Database(path: path, migrations: [Migration(version: 3, sql: "")])
        try vault.execute("INSERT INTO slot SELECT 2, 'of-tomorrow', created, parameters, wrapped, digest FROM slot")
        try vault.execute("UPDATE vault SET root = zeroblob(60)")
        vault.close()
        try board.launch()
        let daemon = try #require(board.daemon)
        #expect(try await daemon.ended() == 78)
        #expect(daemon.errors.text.contains("the list of records in vault \(path) is damaged"))
        let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
        #expect(files.contains("vault.db") && !files.contains { $0.contains(".damaged-") })
        try await board.tearDown()
    }

    @Test("damage found only when a large outbox is read has it set aside then")
    func largeOutbox() async throws {
        try await withWaitingMessages(count: 300, bytes: 60_000) { lab, board, outbox in
            let segments = try segments(of: outbox)
            #expect(try segments.reduce(0) { try $0 + Data(contentsOf: URL(filePath: $1)).count } > 16 << 20)
            try Damage.zeroedMiddle.strike(segments[segments.count / 2])
            try await lab.startBroker()
            try await board.start()
            _ = try await board.status { $0.outbox?.setAside != nil }
            let status = try await board.drained()
            // Some had been sent before the damage was come by; the rest was rescued.
            #expect(try #require(status.outbox?.rescued) > 0)
            #expect(Set(Self.numbers(at: lab)).count >= 298)
        }
    }

    @Test(
        "a damaged database of a newer version is left as it is and reported, and the older one works again",
        arguments: ["vault", "outbox"])
    func newerVersion(which: String) async throws {
        try await withWaitingMessages { lab, board, outbox in
            let path = which == "vault" ? board.state.appending(path: "vault.db").path : outbox
            try FileManager.default.copyItem(atPath: path, toPath: path + ".kept")
            do {
                let newer = [Migration(version: 1, sql: ""), Migration(version: 99, sql: "")]
                try Database(path: path, migrations: newer).close()
            }
            let bytes = try Data(contentsOf: URL(filePath: path))
            try await lab.startBroker()
            try board.launch()
            try await board.answers()
            let status = try await board.status { $0.fault(of: which) != nil }
            let found = try #require(status.fault(of: which))
            #expect(found.message.contains("newer than"), "\(found.message)")
            let remedy = try #require(found.remedy)
            #expect(remedy.hasPrefix("install the newer program again, or restore the"))
            #expect(try await board.latchkey("status").output.contains("newer than"))
            let doctor = try await board.latchkey("doctor", "--json")
            #expect(doctor.status == 1)
            #expect(try Self.verdict(which, in: doctor.json) == "fail")
            #expect(try await board.latchkey("publish", "counter", "1").status != 0)
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)

            rename(path + ".kept", path)
            let after = try await board.status { $0.outbox?.depth == 0 }
            #expect(after.registration.state == "registered")
            #expect(Self.numbers(at: lab) == Array(1...300))
            #expect(await lab.devices().count == 1)
        }
    }

    // MARK: Steps

    private func expectWarning(of name: String, on board: TestBoard) async throws {
        let status = try await board.status()
        #expect(status.setAside == [name])
        #expect(try await board.latchkey("status").output.contains(name))
        let doctor = try await board.ask("doctor")
        #expect(try Self.verdict("storage", in: doctor) == "warn")
        #expect(try await board.latchkey("doctor").output.contains(name))
    }

    static func verdict(_ check: String, in doctor: [String: Any]) throws -> String? {
        let checks = try #require(doctor["checks"] as? [[String: Any]])
        return checks.first { $0["name"] as? String == check }?["verdict"] as? String
    }

    /// The numbers that reached the broker, in their order.
    static func numbers(at lab: Lab) -> [Int] {
        lab.messages.filter { $0.topic.hasSuffix("/custom/counter") }
            .compactMap { Int(String(decoding: $0.payload, as: UTF8.self).prefix { $0 != " " }) }
    }
}

/// Gives `body` a registered board that is off, in whose outbox messages wait, numbered from 1, with a broker that is
/// off too.
private func withWaitingMessages(
    count: Int = 300, bytes: Int = 800, stopping signal: Int32 = SIGTERM,
    _ body: (Lab, TestBoard, _ outbox: String) async throws -> Void
) async throws {
    try await inTurn {
        try await withLabAndBoard(settings: DamageTests.quiet) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker(abruptly: true)
            let lines = (1...count).map { "\($0) " + String(repeating: "x", count: bytes) }
            // Each run is a transaction of its own, and all or none of it.
            for start in stride(from: 0, to: count, by: 20) {
                let some = lines[start..<min(start + 20, count)].joined(separator: "\n")
                #expect(try await board.latchkey("publish", "--lines", "counter", input: some).status == 0)
            }
            try await board.stop(signal)
            let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            let outbox = try #require(files.first { $0.hasPrefix("outbox-") && $0.hasSuffix(".db") })
            try await body(lab, board, board.state.appending(path: outbox).path)
        }
    }
}

/// The segments beside an outbox's database, the oldest first.
private func segments(of outbox: String) throws -> [String] {
    let (folder, name) = (URL(filePath: outbox).deletingLastPathComponent(), URL(filePath: outbox).lastPathComponent)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
        $0.hasPrefix(name + "-") && $0.count == name.count + 17
    }.sorted().map { folder.appending(path: $0).path }
}

extension TestBoard {
    /// Waits until somebody answers at the socket, be it the agent that waits for its vault.
    func answers(within seconds: Double = 120) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while try await latchkey("status").status != 0 {
            guard ContinuousClock.now < end else { throw Unexpected("nobody answers: \(daemon?.errors.text ?? "")") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

extension BoardStatus {
    /// Why a store cannot be used.
    fileprivate func fault(of store: String) -> Trouble? { store == "vault" ? vault?.error : outbox?.error }
}
