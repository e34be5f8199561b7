import Foundation
import Glibc
import TestSupport

/// What a process has in memory that it can write to: what a core of it would hold, and more.
struct MemoryImage {
    private let pieces: [[UInt8]]
    var count: Int { pieces.reduce(0) { $0 + $1.count } }

    /// Of a process that goes on meanwhile. For root.
    init(of process: pid_t) throws {
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw Unexpected("no memory of \(process): \(String(cString: strerror(errno)))") }
        defer { close(memory) }
        // start-end permissions offset device inode path (proc(5)).
        pieces = maps.split(separator: "\n").flatMap { line -> [[UInt8]] in
            let fields = line.split(separator: " ")
            let range = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), range.count == 2 else { return [] }
            var bytes = [UInt8](repeating: 0, count: range[1] - range[0])
            let read = pread(memory, &bytes, bytes.count, off_t(range[0]))
            return Self.runs(in: bytes.prefix(max(read, 0)))
        }
    }

    init(_ bytes: [UInt8]) { pieces = [bytes] }

    init(file: URL) throws { pieces = Self.runs(in: Array(try Data(contentsOf: file))[...]) }

    /// How many pieces of memory that can be written to a core has (elf(5), 64 bits).
    static func writableSegments(ofCore file: URL) throws -> Int {
        let core = try Data(contentsOf: file)
        return core.withUnsafeBytes { bytes in
            let start = Int(bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
            let count = Int(bytes.loadUnaligned(fromByteOffset: 56, as: UInt16.self))
            return (0..<count).count { number in
                let header = start + 56 * number
                func word(_ offset: Int) -> UInt32 {
                    bytes.loadUnaligned(fromByteOffset: header + offset, as: UInt32.self)
                }
                let size = bytes.loadUnaligned(fromByteOffset: header + 32, as: UInt64.self)
                return word(0) == PT_LOAD && word(4) & UInt32(PF_W) != 0 && size > 0
            }
        }
    }

    /// The bytes without the pages that nobody has written to: most of what is mapped.
    private static func runs(in bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        let (page, empty) = (4096, [UInt8](repeating: 0, count: 4096))
        var runs: [[UInt8]] = []
        var start: Int?
        bytes.withUnsafeBytes { memory in
            for offset in stride(from: 0, to: memory.count, by: page) {
                let isEmpty = memcmp(memory.baseAddress! + offset, empty, min(page, memory.count - offset)) == 0
                if !isEmpty, start == nil { start = offset }
                if isEmpty, let begun = start {
                    runs.append(Array(memory[begun..<offset]))
                    start = nil
                }
            }
            if let begun = start { runs.append(Array(memory[begun...])) }
        }
        return runs
    }

    /// How often the bytes occur.
    func occurrences(of bytes: [UInt8]) -> Int { pieces.reduce(0) { $0 + Self.occurrences(of: bytes, in: $1) } }

    private static func occurrences(of bytes: [UInt8], in piece: [UInt8]) -> Int {
        piece.withUnsafeBytes { memory in
            var (count, start) = (0, memory.baseAddress!)
            let end = start + memory.count
            while let found = find(start, end - start, bytes, bytes.count) {
                count += 1
                start = found + 1
            }
            return count
        }
    }
}

/// memmem(3), which Glibc shows to GNU's own programs alone.
@_silgen_name("memmem")
private func find(_ memory: UnsafeRawPointer, _ size: Int, _ part: UnsafeRawPointer, _ count: Int) -> UnsafeRawPointer?

/// Something that must be seen nowhere, with the forms in which it could be.
struct KnownSecret {
    let name: String
    let forms: [[UInt8]]

    /// - Parameter bytes: as they are; in hexadecimal and base64 they would be no less secret.
    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        let base64 = Data(bytes).base64EncodedString().replacingOccurrences(of: "=", with: "")
        let encoded =
            String(decoding: bytes, as: UTF8.self).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? hex
        let safe = base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        // A key in PEM is base64 in lines of 64; the second is its own already.
        let line = base64.count > 128 ? [String(base64.dropFirst(64).prefix(64))] : []
        forms = Array(Set([bytes] + ([hex, hex.uppercased(), base64, safe, encoded] + line).map { Array($0.utf8) }))
    }

    init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

    func isIn(_ text: String) -> Bool { isIn(Array(text.utf8)) }

    func isIn(_ bytes: [UInt8]) -> Bool { !bytes.isEmpty && count(in: MemoryImage(bytes)) > 0 }

    func count(in image: MemoryImage) -> Int { forms.reduce(0) { $0 + image.occurrences(of: $1) } }
}
