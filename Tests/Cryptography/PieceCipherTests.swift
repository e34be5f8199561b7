import Cryptography
import Testing

@Suite("AES-256-GCM in pieces")
struct PieceCipherTests {
    private static let key = SecretBytes([UInt8](repeating: 7, count: 32))
    private static let prefix: [UInt8] = [1, 2, 3, 4, 5, 6, 7]

    private func cipher(key: SecretBytes = key, prefix: [UInt8] = prefix, _ label: [UInt8] = [9]) throws -> PieceCipher
    {
        try PieceCipher(key: key, prefix: prefix, authenticating: label)
    }

    private func sealed(_ texts: [String]) throws -> [[UInt8]] {
        var cipher = try cipher()
        return try texts.indices.map {
            try cipher.seal(SecretBytes(utf8: texts[$0]), isLast: $0 == texts.count - 1)
        }
    }

    @Test("the nonce of a piece is the prefix, its number and whether it is the last")
    func nonces() throws {
        let pieces = try sealed(["a", "b"])
        for (piece, end) in zip(pieces, [[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]] as [[UInt8]]) {
            #expect(try AESGCM.open(Self.prefix + end + piece, key: Self.key, authenticating: [9]).count == 1)
        }
    }

    @Test("pieces open in the order in which they were sealed, and in no other")
    func order() throws {
        let pieces = try sealed(["a", "b", "c"])
        var opener = try cipher()
        #expect(try opener.open(pieces[0], isLast: false).exposedText() == "a")
        #expect(try opener.open(pieces[1], isLast: false).exposedText() == "b")
        #expect(try opener.open(pieces[2], isLast: true).exposedText() == "c")
        for (piece, isLast) in [(1, false), (2, true), (2, false), (0, true)] {
            var opener = try cipher()
            #expect(throws: CryptographyError.notAuthentic) { try opener.open(pieces[piece], isLast: isLast) }
        }
    }

    @Test("a piece does not open with another key, prefix or additional data")
    func others() throws {
        let piece = try sealed(["a"])[0]
        for index in 0..<3 {
            var opener = try cipher(
                key: index == 0 ? SecretBytes([UInt8](repeating: 8, count: 32)) : Self.key,
                prefix: index == 1 ? [0, 2, 3, 4, 5, 6, 7] : Self.prefix, index == 2 ? [8] : [9])
            #expect(throws: CryptographyError.notAuthentic) { try opener.open(piece, isLast: true) }
        }
    }

    @Test(
        "nothing is sealed after the last piece, nor with a prefix of another length, nor opened when it is too short")
    func refused() throws {
        var sealer = try cipher()
        _ = try sealer.seal(SecretBytes([]), isLast: true)
        #expect(throws: CryptographyError.self) { try sealer.seal(SecretBytes([]), isLast: true) }
        #expect(throws: CryptographyError.self) { _ = try cipher(prefix: [1]) }
        var opener = try cipher()
        #expect(throws: CryptographyError.malformed(.sealedText, reason: "it is truncated")) {
            try opener.open([UInt8](repeating: 0, count: 15), isLast: true)
        }
    }
}
