import FoundationEssentials
import Glibc

/// Memory that the start needed and the rest of the agent's life does not.
enum Memory {
    /// Gives back the pages of program text that are mapped now; those still in use come back from the page cache, each at
    /// the cost of a minor fault.
    ///
    /// Registration, key generation and the first handshakes touch most of OpenSSL, libcurl and the program itself once. On a
    /// board of 512 MB, pages that nobody runs again should not count as the agent's.
    static func releaseStartPages() {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        for line in maps.split(separator: "\n") {
            // start-end permissions offset device inode path (proc(5)). Only text is released: it is never written, so the
            // file still has it. Relocated data is mapped read-only as well, but differs from the file.
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { continue }
            let range = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard range.count == 2, range[0] < range[1], let start = UnsafeMutableRawPointer(bitPattern: range[0]) else { continue }
            // A refusal leaves the pages where they are.
            _ = madvise(start, Int(range[1] - range[0]), MADV_DONTNEED)
        }
    }
}
