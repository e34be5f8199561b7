import AgentCore
import Glibc
import Groundwork

/// The files in which an enrollment waits for the agent, and how they are wiped.
enum EnrollmentFile {
    static let usual = "/boot/firmware/latchkey/enroll.url"
    /// Where images of Debian 11 and before have the boot partition.
    private static let ofOlderImages = "/boot/latchkey/enroll.url"
    static let credential = "latchkey.enroll"
    /// Where credentials come from that only root can write (systemd.exec(5)).
    static let credentialStores = ["/etc/credstore", "/run/credstore"]

    /// - Parameter setting: `enrollment.file`; empty for none.
    static func paths(_ setting: String) -> [String] {
        setting.isEmpty ? [] : setting == usual ? [usual, ofOlderImages] : [setting]
    }

    static var credentialPaths: [String] { credentialStores.map { "\($0)/\(credential)" } }

    /// - Returns: `nil` if there is none.
    static func read(_ path: String) throws(FileFault) -> [UInt8]? {
        do {
            return try BoundedFile.read(path, limit: EnrollmentContent.limit, .regularWithoutLink)
        } catch .system(Errno(ENOENT)), .system(Errno(ENOTDIR)) {
            return nil
        }
    }

    /// Overwrites the file and removes it, if it has this content: as far as the medium lets anybody, since flash may
    /// keep a copy of what was overwritten.
    ///
    /// - Parameter hash: of its content, as ``EnrollmentLedger`` has it. A file that power loss left overwritten, even
    ///   in part, is wiped and removed too.
    /// - Returns: whether there was such a file.
    static func wipe(_ path: String, hash: String) throws(FileFault) -> Bool {
        func isMeant(_ content: [UInt8]) -> Bool { wipeHasBegun(content) || EnrollmentLedger.hash(of: content) == hash }
        guard let found = try read(path), isMeant(found) else { return false }
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(Errno(errno)) }
        defer { close(descriptor) }
        // Another file may have this name by now.
        let content = try BoundedFile.read(descriptor, limit: EnrollmentContent.limit)
        guard isMeant(content) else { return false }
        let zeros = [UInt8](repeating: 0, count: content.count)
        guard pwrite(descriptor, zeros, zeros.count, 0) == zeros.count, fsync(descriptor) == 0 else {
            throw .system(Errno(errno))
        }
        killPoint("first-boot-overwritten")
        guard unlink(path) == 0 else { throw .system(Errno(errno)) }
        let folder = open(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/", O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return true
    }

    /// What a medium writes as a whole or not at all, in bytes: power loss during a wipe leaves some of a file's
    /// sectors as they were.
    private static let sector = 512

    /// Whether a wipe of the file has begun: all of a sector is zeros, which no enrollment has.
    ///
    /// Single zeros are not enough: a URL that was saved as UTF-16 has them, and is refused, not removed.
    static func wipeHasBegun(_ content: [UInt8]) -> Bool {
        stride(from: 0, to: content.count, by: sector).contains { start in
            content[start..<min(start + sector, content.count)].allSatisfy { $0 == 0 }
        }
    }
}
