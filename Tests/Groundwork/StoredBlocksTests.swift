import Groundwork
import Testing

@Suite("Content that is stored as deflate and checked")
struct StoredBlocksTests {
    @Test("the checksum of stored content is that of RFC 1952, section 8")
    func checksum() { #expect(CRC32.checksum(Array("123456789".utf8)) == 0xCBF4_3926) }

    @Test("a stored block holds 65,535 bytes at most, and the last one says so, as RFC 1951 section 3.2.4 has it")
    func blocks() {
        #expect(StoredBlocks.stream(of: []) == [1, 0, 0, 0xFF, 0xFF])
        let full = [UInt8](repeating: 7, count: 65_535)
        #expect(StoredBlocks.stream(of: full) == [1, 0xFF, 0xFF, 0, 0] + full)
        #expect(
            StoredBlocks.stream(of: full + [8]) == [0, 0xFF, 0xFF, 0, 0] + full + [1, 1, 0, 0xFE, 0xFF] + [8])
    }
}
