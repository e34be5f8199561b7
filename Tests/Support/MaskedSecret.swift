import Cryptography
import Foundation

/// A secret in a form that a search of this process's memory for the secret does not find.
package struct MaskedSecret {
    private static let mask: UInt8 = 0xA5
    private let masked: [UInt8]

    package init(_ secret: SecretBytes) { masked = secret.withUnsafeBytes { $0.map { $0 ^ Self.mask } } }

    /// Reads everything that this process can write to, and looks for the secret in it.
    package func isInMemory() throws -> Bool {
        let memory = open("/proc/self/mem", O_RDONLY)
        guard memory >= 0 else { throw POSIXError(.EACCES) }
        defer { close(memory) }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 20, alignment: 4096)
        defer { chunk.deallocate() }
        let own = UInt(bitPattern: chunk.baseAddress)..<UInt(bitPattern: chunk.baseAddress! + chunk.count)
        for line in try Self.mappings().split(separator: "\n")
        where line.split(separator: " ")[1].hasPrefix("rw") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            var position = ends[0]
            while position < ends[1] {
                // What was read last is not searched, but all around it is: the heap may lie in the same mapping.
                if own.contains(position) { position = own.upperBound }
                let end = position < own.lowerBound ? min(ends[1], own.lowerBound) : ends[1]
                guard position < end else { continue }
                let count = pread(memory, chunk.baseAddress, min(chunk.count, Int(end - position)), off_t(position))
                // No longer mapped, or a device's memory.
                guard count > 0 else { break }
                if isFound(in: UnsafeRawBufferPointer(rebasing: chunk[..<count])) { return true }
                position += UInt(count == chunk.count ? count - masked.count : count)
            }
        }
        return false
    }

    /// This process's mappings, as the kernel lists them, page by page: Foundation may stop at the first.
    private static func mappings() throws -> String {
        let list = open("/proc/self/maps", O_RDONLY)
        guard list >= 0 else { throw POSIXError(.EACCES) }
        defer { close(list) }
        var (text, page) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = read(list, &page, page.count), count > 0 { text += page[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    private func isFound(in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= masked.count else { return false }
        var start = bytes.baseAddress!
        let end = start + bytes.count - masked.count
        while start <= end, let hit = memchr(start, Int32(masked[0] ^ Self.mask), end - start + 1) {
            let found = UnsafeRawPointer(hit)
            if masked.indices.allSatisfy({ found.load(fromByteOffset: $0, as: UInt8.self) ^ Self.mask == masked[$0] }) {
                return true
            }
            start = found + 1
        }
        return false
    }
}
