import Groundwork
import Testing

@testable import Cryptography

@Suite("Salted digests")
struct SaltedDigestTests {
    private let password = SecretBytes(utf8: "mypassword")
    private let ofPhone = "{SaltedSHA-256}+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM="
    private let ofAndroid = "{SaltedSHA-256}HUl3DwJEdrmOWP6UXZi08oIMNzbHE20Y5fmd5rZ2a+MAESIzRFVmdw=="

    private func error(_ body: () throws -> Void) -> FormatError? {
        do {
            try body()
            return nil
        } catch {
            return error as? FormatError
        }
    }

    @Test("digests of both SDKs are written and verified byte by byte (checklist 170)")
    func vectors() throws {
        let salts = [ofPhone: Array("A1B2C3".utf8), ofAndroid: [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77]]
        for (text, salt) in salts {
            #expect(try SaltedDigest(of: password, by: "SaltedSHA-256", salt: salt).text == text)
            let read = try SaltedDigest(parsing: text)
            #expect(read.salt == salt)
            #expect(read.text == text)
            #expect(try read.matches(password, legacy: false))
            #expect(try !read.matches(SecretBytes(utf8: "mypassworD"), legacy: false))
        }
    }

    @Test("a digest with any one bit changed is not the text's, or not a digest")
    func changed() throws {
        let start = "{SaltedSHA-256}".utf8.count
        let bytes = try #require(Base64.decode(String(ofPhone.dropFirst(start))))
        for bit in 0..<8 * bytes.count {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            let read = try SaltedDigest(parsing: "{SaltedSHA-256}" + Base64.encode(other))
            #expect(try !read.matches(password, legacy: false))
        }
    }

    @Test("digests of every algorithm are those of the openssl command", arguments: SaltedDigest.Algorithm.allCases)
    func algorithms(algorithm: SaltedDigest.Algorithm) throws {
        for salt in ["", "A1B2C3"] {
            let option = "-" + algorithm.rawValue.lowercased().filter { $0 != "-" }
            let shown = try OpenSSLCommand.run(["dgst", option, "-r"], input: Array("mypassword\(salt)".utf8))
            let digest = try #require(Hex.decode(String(shown.output.prefix(2 * algorithm.byteCount))))
            let name = (salt.isEmpty ? "" : "Salted") + algorithm.rawValue
            let text = "{\(name)}" + Base64.encode(digest + Array(salt.utf8))
            #expect(try SaltedDigest(parsing: text).matches(password, legacy: true))
            guard algorithm != .md5 else { continue }
            #expect(try SaltedDigest(of: password, by: name, salt: Array(salt.utf8)).text == text)
        }
    }

    @Test("MD5 is never written, and verified only as legacy")
    func legacy() throws {
        #expect(error { _ = try SaltedDigest(of: password, by: "MD5", salt: []) } == .legacyOnly)
        #expect(error { _ = try SaltedDigest(of: password, by: "SaltedMD5", salt: [1]) } == .legacyOnly)
        let read = try SaltedDigest(parsing: "{MD5}NIGdfV7FgphMeXFuzjsuTw==")
        #expect(error { _ = try read.matches(password, legacy: false) } == .legacyOnly)
    }

    @Test("salts are upper-case hexadecimal digits, two for each 8 bits begun")
    func salts() throws {
        for (bits, count) in [(4, 2), (8, 2), (12, 4), (24, 6), (1024, 256)] {
            let salt = try SaltedDigest.salt(bits: bits)
            #expect(salt.count == count)
            #expect(salt.allSatisfy { Array("0123456789ABCDEF".utf8).contains($0) })
        }
        #expect(try SaltedDigest.salt(bits: 128) != SaltedDigest.salt(bits: 128))
    }

    @Test("each fault of a digest has the number of the SDK (checklist 171)")
    func faults() {
        let long = SecretBytes([UInt8](repeating: 7, count: 1 << 20 + 1))
        let faults: [(Int, () throws -> Void)] = [
            (10406, { _ = try SaltedDigest(of: SecretBytes(utf8: ""), by: "SHA-1", salt: []) }),
            (10406, { _ = try SaltedDigest(parsing: "") }),
            (10406, { _ = try SaltedDigest(parsing: "{SHA-1}") }),
            (10505, { _ = try SaltedDigest.salt(bits: 3) }),
            (10505, { _ = try SaltedDigest.salt(bits: 1028) }),
            (10505, { _ = try SaltedDigest.salt(bits: -4) }),
            (10512, { _ = try SaltedDigest.salt(bits: 6) }),
            (10506, { _ = try SaltedDigest(of: password, by: "SHA-3", salt: []) }),
            (10506, { _ = try SaltedDigest(parsing: "{sha-1}AAAA") }),
            (10513, { _ = try SaltedDigest(of: password, by: "SaltedSHA-1", salt: []) }),
            (10513, { _ = try SaltedDigest(parsing: "{SaltedMD5}NIGdfV7FgphMeXFuzjsuTw==") }),
            (10514, { _ = try SaltedDigest(of: password, by: "SHA-1", salt: [1]) }),
            (10514, { _ = try SaltedDigest(parsing: "{MD5}NIGdfV7FgphMeXFuzjsuTwA=") }),
            (10516, { _ = try SaltedDigest(parsing: "SHA-1") }),
            (10516, { _ = try SaltedDigest(parsing: "{SHA-1}AAAA") }),
            (10516, { _ = try SaltedDigest(parsing: "{SHA-1} AAA") }),
            (10519, { _ = try SaltedDigest(of: long, by: "SHA-1", salt: []) }),
        ]
        for (number, body) in faults { #expect(error(body)?.number == number) }
        #expect(Set(FormatError.allCases.compactMap(\.number)).count == 14)
    }
}
