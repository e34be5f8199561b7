import Foundation
import Glibc
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentNearby
@testable import Proximity

@Suite("The record of who was let in", .timeLimit(.minutes(5)))
struct AuditLogTests {
    private func record(
        _ id: Int, at seconds: TimeInterval = 0, granted: Bool = true, _ outcome: AuditRecord.Outcome? = nil
    ) -> AuditRecord {
        let request = ConsentRequest(
            id: id, requester: Requester(name: "Pixel", address: "C0:FF:EE:00:00:01", way: .ble),
            date: Date(timeIntervalSince1970: seconds), user: "alice")
        return AuditRecord(
            date: Date(timeIntervalSince1970: seconds), request: request,
            decision: granted ? .granted(by: .button) : .timedOut,
            outcome: outcome ?? (granted ? .authorized : .refused))
    }

    private func ids(_ records: [JSON]) -> [Int64?] { records.map { $0["id"]?.integer } }

    @Test("the record of consent has a line of JSON each, for its owner alone, and outlives the agent")
    func lines() async throws {
        try await withFolder { folder in
            let log = AuditLog(directory: folder)
            #expect(await log.newest(10) == [])
            for id in 1...3 { try await log.append(record(id)) }
            #expect(await ids(AuditLog(directory: folder).newest(10)) == [1, 2, 3])
            #expect(await ids(log.newest(2)) == [2, 3])
            let newest = await log.newest(1)
            #expect(newest.first?["by"]?.string == "button")
            #expect(newest.first?["outcome"]?.string == "authorized")
            #expect(newest.first?["user"]?.string == "alice")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/proximity-audit.jsonl")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("the record of consent shows an unknown outcome only until the outcome is recorded, over both files")
    func outcomes() async throws {
        try await withFolder { folder in
            let log = AuditLog(directory: folder, limit: 3 * record(1).json.bytes.count)
            try await log.append(record(1, .unknown))
            #expect(await log.newest(10).map { $0["outcome"] } == ["unknown"])
            try await log.append(record(1, .authorized))
            try await log.append(record(2, at: 1, .unknown))
            try await log.append(record(2, at: 1, .failed(code: "gateway.refused")))
            // Another question of the same number, after a restart.
            try await log.append(record(2, at: 2, .unknown))
            let records = await log.newest(10)
            #expect(records.map { $0["outcome"] } == ["authorized", "failed", "unknown"])
            #expect(ids(records) == [1, 2, 2])
            #expect(FileManager.default.fileExists(atPath: "\(folder)/proximity-audit.jsonl.1"))
        }
    }

    @Test("a power cut loses only the half-written line of the record of consent, not the one after it")
    func torn() async throws {
        try await withFolder { folder in
            let log = AuditLog(directory: folder)
            try await log.append(record(1))
            let file = try #require(FileHandle(forWritingAtPath: folder + "/proximity-audit.jsonl"))
            try file.seekToEnd()
            try file.write(contentsOf: Data(#"{"id":2,"na"#.utf8))
            try file.close()
            #expect(await ids(log.newest(10)) == [1])
            try await log.append(record(3))
            #expect(await ids(log.newest(10)) == [1, 3])
        }
    }

    @Test("the record of consent keeps one former file beyond its limit, and reads over both")
    func rotation() async throws {
        try await withFolder { folder in
            let line = record(1).json.bytes.count + 1
            let log = AuditLog(directory: folder, limit: 3 * line)
            for id in 1...8 { try await log.append(record(id)) }
            #expect(await ids(log.newest(10)) == [4, 5, 6, 7, 8])
            #expect(await ids(log.newest(3)) == [6, 7, 8])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "proximity-audit.jsonl", "proximity-audit.jsonl.1",
                ])
        }
    }

    @Test("the record of consent keeps who was let in, however often others have themselves refused")
    func flood() async throws {
        try await withFolder { folder in
            let line = record(1, granted: false).json.bytes.count + 1
            let log = AuditLog(directory: folder, limit: 10 * line)
            try await log.append(record(1))
            for id in 2...60 { try await log.append(record(id, at: Double(id), granted: false)) }
            try await log.append(record(61, at: 61))
            let kept = await ids(log.newest(100))
            #expect(kept.first == 1 && kept.last == 61)
            #expect(kept.count < 30)
            #expect(await ids(log.newest(2)) == [60, 61], "in the order of their times")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "proximity-audit.jsonl", "proximity-refusals.jsonl", "proximity-refusals.jsonl.1",
                ])
        }
    }

    @Test("the record of consent says where it could not be written")
    func unwritable() async {
        let error = await #expect(throws: AgentError.self) {
            try await AuditLog(directory: "/nowhere").append(record(1))
        }
        #expect(error == .stateDirectory(path: "/nowhere/proximity-audit.jsonl", reason: "No such file or directory"))
    }
}
