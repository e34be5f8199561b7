import Foundation
import Glibc
import Groundwork
import Testing

@Suite("Bounded files", .timeLimit(.minutes(5)))
struct BoundedFileTests {
    private func withFolder(_ test: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-files-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try test(folder)
    }

    @Test(
        "a bounded file is read whole up to its limit, and not one byte more",
        arguments: [0, 1, 4096, 65_536, 65_537, 300_000])
    func limit(size: Int) throws {
        try withFolder { folder in
            let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try Data(content).write(to: URL(filePath: folder + "/file"))
            #expect(try BoundedFile.read(folder + "/file", limit: size) == content)
            #expect(try BoundedFile.read(folder + "/file", limit: size + 100_000) == content)
            guard size > 0 else { return }
            #expect(throws: FileFault.tooLong(limit: size - 1)) {
                try BoundedFile.read(folder + "/file", limit: size - 1)
            }
        }
    }

    @Test("a bounded file is not a pipe or folder, which nobody waits for, but a link where one is allowed")
    func kinds() throws {
        try withFolder { folder in
            mkfifo(folder + "/pipe", 0o600)
            #expect(throws: FileFault.notRegular) { try BoundedFile.read(folder + "/pipe", limit: 1) }
            #expect(throws: FileFault.notRegular) { try BoundedFile.read(folder, limit: 1) }
            #expect(throws: FileFault.system(Errno(ENOENT))) { try BoundedFile.read(folder + "/none", limit: 1) }
            try Data([7]).write(to: URL(filePath: folder + "/file"))
            symlink(folder + "/file", folder + "/link")
            #expect(try BoundedFile.read(folder + "/link", limit: 1) == [7])
            #expect(throws: FileFault.notRegular) {
                try BoundedFile.read(folder + "/link", limit: 1, .regularWithoutLink)
            }
            #expect(try BoundedFile.read("/dev/null", limit: 1, .anything) == [])
        }
    }

    @Test("a bounded file with a secret is its owner's alone")
    func secret() throws {
        try withFolder { folder in
            try Data([7]).write(to: URL(filePath: folder + "/file"))
            chmod(folder + "/file", 0o640)
            #expect(throws: FileFault.openToOthers) { try BoundedFile.read(folder + "/file", limit: 9, isSecret: true) }
            chmod(folder + "/file", 0o600)
            #expect(try BoundedFile.read(folder + "/file", limit: 9, isSecret: true) == [7])
        }
    }
}
