import Foundation
import Groundwork
import LocalAPI
import Prompts
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby
@testable import Proximity

@Suite("The state directory")
struct StateDirectoryTests {
    @Test("the state directory is made for its owner alone")
    func made() throws {
        try withFolder { folder in
            let directory = try StateDirectory(folder + "/state")
            let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    @Test("the state directory is refused when others may look into it", arguments: [0o755, 0o750, 0o701])
    func open(mode: Int) throws {
        try withFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
            #expect(
                throws: AgentError.stateDirectory(
                    path: folder, reason: "other users may read it (its mode is not 0700)")
            ) {
                try StateDirectory(folder)
            }
        }
    }

    @Test("the state directory has one owner at a time, and another after that")
    func owner() throws {
        try withFolder { folder in
            do {
                let first = try StateDirectory(folder)
                for _ in 0..<3 {
                    #expect(throws: AgentError.stateDirectoryInUse(path: folder)) { try StateDirectory(folder) }
                }
                withExtendedLifetime(first) {}
            }
            _ = try StateDirectory(folder)
        }
    }

    @Test("the state directory says why it cannot be used")
    func unusable() throws {
        try withFolder { folder in
            #expect(throws: AgentError.stateDirectory(path: folder + "/a/b", reason: "No such file or directory")) {
                try StateDirectory(folder + "/a/b")
            }
            try Data().write(to: URL(filePath: folder + "/file"))
            #expect(throws: AgentError.stateDirectory(path: folder + "/file", reason: "it is not a directory")) {
                try StateDirectory(folder + "/file")
            }
        }
    }

    @Test(
        "a state directory of another user is refused with that user's name, even for root",
        .enabled(if: geteuid() == 0, "only root gives files away"))
    func ofOther() throws {
        try withFolder { folder in
            let other = "\(folder)/other"
            try FileManager.default.createDirectory(
                atPath: other, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            #expect(chown(other, 1, 1) == 0)
            let error = AgentError.stateDirectoryOfOther(path: other, owner: 1, user: 0)
            #expect(throws: error) { try StateDirectory(other) }
            #expect(error.message.hasSuffix("it belongs to user daemon, and this agent runs as user root"))
            #expect(error.remedy?.contains("run it as user daemon") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: other) == [])
            #expect(UserName.shown(4_000_000_000) == "uid 4000000000")
        }
    }

    @Test("the state directory leads nobody elsewhere: no file in it is opened through a link")
    func links() async throws {
        try await withFolder { folder in
            let (state, elsewhere) = ("\(folder)/state", "\(folder)/elsewhere")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            for name in ["lock", "clock", "proximity-audit.jsonl"] {
                try FileManager.default.createSymbolicLink(atPath: "\(state)/\(name)", withDestinationPath: elsewhere)
            }
            #expect(throws: AgentError.stateDirectory(path: state, reason: "its file lock is a link")) {
                try StateDirectory(state)
            }
            BestKnownTime(path: "\(state)/clock", built: .distantPast).confirm(by: .new)
            let request = ConsentRequest(
                id: 1, requester: Requester(name: "Pixel", address: "C0:FF:EE:00:00:01", way: .ble), date: .distantPast)
            let record = AuditRecord(
                date: .distantPast, request: request, decision: .granted(by: .button), outcome: .authorized)
            await #expect(throws: AgentError.self) { try await AuditLog(directory: state).append(record) }
            #expect(!FileManager.default.fileExists(atPath: elsewhere))
        }
    }
}
