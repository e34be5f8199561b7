import Cryptography
import Groundwork
import Testing

@testable import Vault

/// Blocks for RSA beside those that OpenSSL made, by way of python3-cryptography: each signature of `message` was taken
/// to the power of the public exponent.
@Suite("Blocks that RSA signs")
struct SignedBlockTests {
    struct Known: Sendable, CustomTestStringConvertible {
        let bits: Int
        let hash: Digest
        let salt: String
        let block: String
        let info: String

        var testDescription: String { "RSA of \(bits) bits, \(hash.rawValue)" }
        var digest: [UInt8] { hash.hash("message".utf8) }
    }

    static let known = [
        Known(
            bits: 2048, hash: .sha256,
            salt: "52c227495c3d20aa2769880ca114863f1685d733661410dde3599e55ca796331",
            block: "759f88196d2015da3752022eb98f830d1beec7ab0fe47cab7f56de778a3e4085d5c7512aed93a7ea044ebc7d197c5a89"
                + "3189a625cc56c881b05769002d0031ec875187087047de29940da44e40231bd362964c4475985e3592fe56307865e088"
                + "a2870bc5a22aa36a79efd2f5717e22aaa80bde4653654e206655e7d602f09ffdfa18ae0c42582a1ba8133af3dc6b1eb9"
                + "ff4f4fea780494ec5831dd228cdc4a7801ff5aab394749a6b8bba8dd64a4c33bdef1f8eb2aa7619b8e37dd6988fea552"
                + "87a44fda79ae381b16acb7924917693c57216dfd4f1ad47a099f25a825118839dc776e093319a3ab4a8e5b0c48630231"
                + "42f24f8d6308d04a426c0fa8a1e511bc",
            info: "3031300d060960864801650304020105000420ab530a13e45914982b79f9b7e3fba994cfd1f3fb22f71cea1afbf02b46"
                + "0c6d1d"),
        Known(
            bits: 2049, hash: .sha512,
            salt: "2df016c143ecb0e381aa3aa54020ca4be1c0c12e",
            block: "00c4c3d656427d84f68d6c1967cef7f335a3425bfebcb209f727ccf48482acef0f9d5c2ad89409e88fdd16c3aaf937d6"
                + "dd5bb74d38a960d12fd2a4fcef499dc175000b5ea8438c0b336e092b7468eb3b30ab9a2314116969202f9690352dd5fe"
                + "fff1a72c7894d005fafba2b599828d77f070e3a75361a47677cc2591692d6d83b1c61bb7050f44c0c342febc1e8eff92"
                + "c219f7b40fca080ee8488a6fef9111f702aa23784907c44b212074c6d2690634f6b4f10cfc06d281489165897b926bf0"
                + "f5f7955fa8c468aa296b4a4af9396e425669410c8bfbe614aab3375ad29b3d1795ff11405a837e2303fb39186af38828"
                + "a51f4d651e8608de1ae86109b6f121d9bc",
            info: "3051300d060960864801650304020305000440f8daf57a3347cc4d6b9d575b31fe6077e2cb487f60a96233c08cb479db"
                + "f31538cc915ec6d48bdbaa96ddc1a16db4f4f96f37276cfcb3510b8246241770d5952c"),
        Known(
            bits: 2050, hash: .sha384,
            salt: "0c6bcd86cb058cd0237c21dc3d92bcfc41a6967e30acd76d41f763e7a820db5177a6fbe15960c1c05d07f5998dcdfc53",
            block: "01d7dd0e7b01a24cb24b98717e599996189622a4f5fc6d493b14302a945e29116f27e9fe552bcf42436a2f10a0ab8fb3"
                + "f324da2fdb8d0c5d59d4d2a442e51f3e71eeae980af0a99448ee98746743cbf188213569ad9bb4951884b8419d1dc25f"
                + "05e5fc3671c7e4e66b13afa4f3f39173e2d7efcc35f6d036e9d7e80b2034bca6af80ef9260dd811804a172fbea87708e"
                + "b865828c124fcc8ed293acfd99a10213a10dbd8331525523799f09e189e0d74b018a170e562cc543270201956935ece7"
                + "65e4aa68cb536de5ccd3c9b97c153810fe6f5986d8173cd425986163b11c057425b51920d3bbda687e83f8d74749754f"
                + "a766765ae0a23d9a93658ac86874c43bbc",
            info: "3041300d060960864801650304020205000430353eb7516a27ef92e96d1a319712d84b902eaa828819e53a8b09af7028"
                + "103a9978ba8feb6161e33c3619c5da4c4666a5"),
    ]

    @Test(
        "blocks that RSA signs are those of OpenSSL for PSS, also where a byte of the modulus is left", arguments: known
    )
    func pss(known: Known) throws {
        let salt = try #require(Hex.decode(known.salt))
        let block = PSSBlock.encode(digest: known.digest, hash: known.hash, salt: salt, modulusBits: known.bits)
        #expect(block.map { Hex.encode($0) } == known.block)
    }

    @Test("blocks that RSA signs are those of OpenSSL for PKCS #1, in their padding", arguments: known)
    func pkcs1(known: Known) throws {
        let info = try #require(DigestInfo.encode(digest: known.digest, hash: known.hash))
        #expect(Hex.encode(info) == known.info)
        let bytes = (known.bits + 7) / 8
        let block = DigestInfo.block(digest: known.digest, hash: known.hash, modulusBits: known.bits)
        let padding = [UInt8](repeating: 0xFF, count: bytes - info.count - 3)
        #expect(block == [0, 1] + padding + [0] + info)
    }

    @Test("blocks that RSA signs have another random salt each time, of the length asked for")
    func random() throws {
        let digest = SHA256.hash("message".utf8)
        let blocks = try (0..<2).map { _ in
            try #require(try PSSBlock.encode(digest: digest, hash: .sha256, saltBytes: 32, modulusBits: 2048))
        }
        #expect(blocks[0] != blocks[1])
        #expect(blocks.map(\.count) == [256, 256])
        #expect(blocks.allSatisfy { $0[0] < 0x80 && $0[255] == 0xBC })
        let unsalted = try (0..<2).map { _ in
            try PSSBlock.encode(digest: digest, hash: .sha256, saltBytes: 0, modulusBits: 2048)
        }
        #expect(unsalted[0] == unsalted[1])
    }

    @Test("blocks that RSA signs are not made of a digest of another length, nor where the salt has no room")
    func refused() throws {
        let digest = SHA256.hash("message".utf8)
        #expect(DigestInfo.encode(digest: digest, hash: .sha384) == nil)
        #expect(DigestInfo.block(digest: digest, hash: .sha256, modulusBits: 488) == nil)
        #expect(DigestInfo.block(digest: digest, hash: .sha256, modulusBits: 496)?.count == 62)
        for (hash, salt, bits) in [
            (Digest.sha512, 32, 2048), (.sha256, 223, 2048), (.sha256, -1, 2048), (.sha256, 32, 0),
        ] {
            #expect(try PSSBlock.encode(digest: digest, hash: hash, saltBytes: salt, modulusBits: bits) == nil)
        }
        #expect(try PSSBlock.encode(digest: digest, hash: .sha256, saltBytes: 222, modulusBits: 2048)?.count == 256)
    }
}
