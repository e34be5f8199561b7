import Foundation
import TestSupport
import Testing
import Vault

/// Where secrets are looked for: what the kernel tells of a process, files, memory and a core.
extension SecretTests {
    func searchProcesses(_ secrets: [KnownSecret], _ boards: [TestBoard]) async throws {
        for process in boards.compactMap(\.daemon?.processIdentifier) {
            for file in ["cmdline", "environ", "comm", "status"] {
                let bytes = Array(try Data(contentsOf: URL(filePath: "/proc/\(process)/\(file)")))
                for secret in secrets where secret.isIn(bytes) {
                    Issue.record("\(secret.name) is in \(file) of a daemon")
                }
            }
        }
    }

    func searchFiles(_ secrets: [KnownSecret], _ board: TestBoard) throws {
        let all = try #require(FileManager.default.enumerator(at: board.state, includingPropertiesForKeys: nil))
        let files = all.compactMap { $0 as? URL }
        let names = files.map(\.lastPathComponent)
        #expect(names.contains("vault.db") && names.contains { $0.hasPrefix("outbox") }, "\(names)")
        for file in files {
            guard let bytes = try? Array(Data(contentsOf: file)) else { continue }
            for secret in secrets where secret.isIn(bytes) {
                Issue.record("\(secret.name) is in \(file.lastPathComponent)")
            }
        }
    }

    /// - Parameter held: what the daemon goes on working with.
    func searchMemory(_ secrets: [KnownSecret], _ held: [KnownSecret], _ board: TestBoard) async throws {
        let process = try #require(board.daemon?.processIdentifier)
        #expect(try String(contentsOfFile: "/proc/\(process)/coredump_filter", encoding: .utf8).contains("00000000"))
        let needed = Set(held.flatMap(\.forms))
        // What a request has just left is gone with its connection.
        var image = try MemoryImage(of: process)
        let gone = secrets.filter { secret in !needed.contains(secret.forms[0]) && needed.isDisjoint(with: secret.forms)
        }
        let keys = held.filter { KeyReference($0.name) != nil }
        let end = ContinuousClock.now + .seconds(120)
        while (gone + keys).contains(where: { $0.count(in: image) > 0 }), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(500))
            image = try MemoryImage(of: process)
        }
        var counts: [String: Int] = [:]
        for secret in gone + keys {
            let count = secret.count(in: image)
            counts[secret.name, default: 0] += count
            #expect(count == 0, "\(secret.name) is \(count) times in the memory of the daemon")
        }
        let found = counts.values.reduce(0, +)
        print(
            "searched \(image.count >> 10) KiB for \(gone.count + keys.count) secrets that are needed no more: \(found) found"
        )
        for secret in held where !keys.contains(where: { $0.name == secret.name }) {
            print("held: \(secret.name), \(secret.count(in: image)) times")
        }
        try await searchCore(secrets, needed, process, board)
    }

    /// gcore takes what the kernel would write if it were let.
    private func searchCore(_ secrets: [KnownSecret], _ needed: Set<[UInt8]>, _ process: pid_t, _ board: TestBoard)
        async throws
    {
        let gcore = URL(filePath: "/usr/bin/gcore")
        guard FileManager.default.isExecutableFile(atPath: gcore.path) else { return print("there is no gcore") }
        let path = board.folder.appending(path: "core").path
        func take(of process: pid_t) async throws -> URL? {
            let taking = try RunningProgram(gcore, ["-o", path, "\(process)"])
            _ = try await taking.ended()
            let file = URL(filePath: "\(path).\(process)")
            if FileManager.default.fileExists(atPath: file.path) { return file }
            print("gcore took none: \(taking.errors.text.suffix(300))")
            return nil
        }
        guard let file = try await take(of: process) else { return }
        // A program that forbids nothing leaves its memory in one.
        let other = try RunningProgram(URL(filePath: "/bin/sleep"), ["60"])
        let control = try await take(of: other.processIdentifier)
        try await other.stop(SIGKILL)
        #expect(try MemoryImage.writableSegments(ofCore: #require(control)) > 0)
        let core = try MemoryImage(file: file)
        #expect(try MemoryImage.writableSegments(ofCore: file) == 0, "a forced core holds memory")
        // It has the registers of each thread. What the daemon works with may be in one that copied it last: 64 bytes
        // fit.
        let inRegisters = secrets.filter { secret in
            !needed.isDisjoint(with: secret.forms) && secret.count(in: core) > 0
        }
        print("core of \(core.count >> 10) KiB; in registers: \(Set(inRegisters.map(\.name)).sorted())")
        for secret in secrets where needed.isDisjoint(with: secret.forms) {
            #expect(secret.count(in: core) == 0, "\(secret.name) is in a forced core")
        }
    }
}
