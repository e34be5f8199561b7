import Foundation
import Glibc
import Testing

@testable import Storage

@Suite("A file beside a database")
struct PlainFileTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    @Test(
        "a file beside a database has the checksum of RFC 3720, whatever its length",
        arguments: [0, 1, 7, 8, 9, 31, 32, 33, 100])
    func checksum(count: Int) {
        func slow(_ bytes: [UInt8]) -> UInt32 {
            var value = UInt32.max
            for byte in bytes {
                value ^= UInt32(byte)
                for _ in 0..<8 {
                    let isOdd = value & 1 == 1
                    value >>= 1
                    if isOdd { value ^= 0x82f6_3b78 }
                }
            }
            return ~value
        }
        #expect(Array("123456789".utf8).withUnsafeBytes(CRC32C.checksum) == 0xe306_9283)
        #expect([UInt8](repeating: 0, count: 32).withUnsafeBytes(CRC32C.checksum) == 0x8a91_36aa)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
        #expect(bytes.withUnsafeBytes(CRC32C.checksum) == slow(bytes))
    }

    @Test("a file beside a database is refused where it is a link, a folder or open to others")
    func refusals() throws {
        let path = workplace.path + "-1"
        _ = try PlainFile(path, creating: true, of: workplace.path)
        #expect(try workplace.mode("-1") == 0o600)
        #expect(symlink(path, workplace.path + "-2") == 0 && mkdir(workplace.path + "-3", 0o700) == 0)
        for name in ["-2", "-3", "-4"] {
            #expect(throws: StorageError.self) { _ = try PlainFile(workplace.path + name, of: workplace.path) }
        }
        #expect(chmod(path, 0o640) == 0)
        #expect(throws: StorageError.permissionsTooOpen(path: path, mode: 0o640)) {
            _ = try PlainFile(path, of: workplace.path)
        }
    }

    @Test("a file beside a database is set aside under a name of its own, and is erased")
    func names() throws {
        let path = workplace.path + "-1"
        let file = try PlainFile(path, creating: true, of: workplace.path)
        try file.write(Array("secret".utf8), at: 3)
        #expect(try file.size() == 9)
        let (first, second) = (try PlainFile.setAside(path), try PlainFile.setAside(path))
        #expect(first != second && first.hasPrefix(path + ".damaged-"))
        #expect(try PlainFile.companions(of: workplace.path).count == 3)
        try PlainFile.erase(path, of: workplace.path)
        #expect(try Data(contentsOf: URL(filePath: first)) == Data(count: 9))
        #expect(access(path, F_OK) != 0)
    }
}
