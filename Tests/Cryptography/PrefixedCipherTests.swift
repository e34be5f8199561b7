import Foundation
import Groundwork
import Testing

@testable import Cryptography

@Suite("Prefixed cipher texts")
struct PrefixedCipherTests {
    private let vector: [UInt8] = Array(0..<16)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func key(_ size: Int) -> SecretBytes { SecretBytes((0..<size).map { UInt8($0 * 7 + 1) }) }

    private func error(_ body: () throws -> Void) -> FormatError? {
        do {
            try body()
            return nil
        } catch {
            return error as? FormatError
        }
    }

    /// What `openssl enc` makes of a text.
    private func sealed(_ text: [UInt8], _ form: CipherForm, _ key: SecretBytes, _ vector: [UInt8]?) throws -> [UInt8] {
        let (input, output) = (folder.path("\(UUID())"), folder.path("\(UUID())"))
        try Data(text).write(to: URL(filePath: input))
        var options = ["-provider", "default", "-provider", "legacy", "-\(form.name(keySize: key.count))"]
        if form.algorithm == .tripleDES, form.mode == .ecb { options[4] = "-DES-EDE3" }
        if form.padding == .none { options.append("-nopad") }
        if let vector { options += ["-iv", Hex.encode(vector)] }
        let run = try OpenSSLCommand.run(
            ["enc", "-e", "-in", input, "-out", output, "-K", Hex.encode(key.exposed())] + options)
        try #require(run.status == 0, "\(run.output)")
        return Array(try Data(contentsOf: URL(filePath: output)))
    }

    private static let forms: [CipherForm] = CipherForm.Algorithm.allCases.flatMap { algorithm in
        CipherForm.Mode.allCases.flatMap { mode in
            CipherForm.Padding.allCases.map { CipherForm(algorithm, mode: mode, padding: $0) }
        }
    }

    @Test("texts of the openssl command are read in every form, and written alike (checklist 172)", arguments: forms)
    func openssl(form: CipherForm) throws {
        let vector = form.mode == .cbc ? Array(self.vector.prefix(form.algorithm.blockSize)) : nil
        for size in form.algorithm.keySizes {
            for count in form.padding == .none ? [16, 32] : [1, 15, 16, 17, 1000] {
                let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
                let theirs = try sealed(text, form, key(size), vector)
                let read = PrefixedCipher(form: form, ciphertext: theirs)
                #expect(try read.decrypted(key: key(size), vector: vector, legacy: true).exposed() == text)
                guard form.algorithm == .aes else { continue }
                let ours = try PrefixedCipher(
                    encrypting: SecretBytes(text), as: form, key: key(size), vector: vector, legacy: true)
                #expect(ours.ciphertext == theirs)
            }
        }
    }

    @Test("texts are written with the short prefix and read with either (checklist 172)")
    func prefixes() throws {
        let sealed = try PrefixedCipher(
            encrypting: SecretBytes(utf8: "text"), as: CipherForm(.aes), key: key(16), vector: vector, legacy: false)
        #expect(sealed.text.hasPrefix("{AES}"))
        #expect(try PrefixedCipher(parsing: sealed.text) == sealed)
        let base64 = sealed.text.dropFirst("{AES}".count)
        #expect(try PrefixedCipher(parsing: "{AES/CBC/PKCS5Padding}\(base64)") == sealed)
        let other = try PrefixedCipher(parsing: "{DESede/ECB/NoPadding}\(base64)")
        #expect(other.form == CipherForm(.tripleDES, mode: .ecb, padding: .none))
        #expect(try PrefixedCipher(parsing: "{AES}\(base64)", usual: (.ecb, .none)).form.mode == .ecb)
    }

    @Test("a text without a vector is read only as legacy, as one of zeros")
    func withoutVector() throws {
        let text = Array("an old text".utf8)
        let old = try sealed(text, CipherForm(.aes), key(32), [UInt8](repeating: 0, count: 16))
        let read = PrefixedCipher(form: CipherForm(.aes), ciphertext: old)
        #expect(try read.decrypted(key: key(32), vector: nil, legacy: true).exposed() == text)
        #expect(error { _ = try read.decrypted(key: key(32), vector: nil, legacy: false) } == .legacyOnly)
        #expect(throws: FormatError.legacyOnly) {
            try PrefixedCipher(
                encrypting: SecretBytes(text), as: CipherForm(.aes), key: key(32), vector: nil, legacy: true)
        }
    }

    @Test("DES and 3DES are never written, and they and ECB are used only as legacy")
    func legacy() throws {
        for algorithm in [CipherForm.Algorithm.des, .tripleDES] {
            let (form, key) = (CipherForm(algorithm), key(algorithm.keySizes[0]))
            let vector = Array(vector.prefix(8))
            #expect(throws: FormatError.legacyOnly) {
                try PrefixedCipher(
                    encrypting: SecretBytes(utf8: "a"), as: form, key: key, vector: vector, legacy: true)
            }
            let read = PrefixedCipher(form: form, ciphertext: [UInt8](repeating: 0, count: 8))
            #expect(error { _ = try read.decrypted(key: key, vector: vector, legacy: false) } == .legacyOnly)
        }
        let form = CipherForm(.aes, mode: .ecb)
        #expect(throws: FormatError.legacyOnly) {
            try PrefixedCipher(encrypting: SecretBytes(utf8: "a"), as: form, key: key(16), vector: nil, legacy: false)
        }
    }

    @Test("a missing provider of old algorithms is named")
    func providerMissing() {
        #expect(error { _ = try LegacyContext(searching: folder.path("nowhere")).handle } == .legacyMissing)
        #expect(FormatError.legacyMissing.explanation.remedy?.contains("openssl-provider-legacy") == true)
    }

    @Test("each fault of a cipher text has the number of the SDK (checklist 171)")
    func faults() throws {
        let text = SecretBytes(utf8: "text")
        func encrypt(
            _ text: SecretBytes, _ form: CipherForm = CipherForm(.aes), size: Int = 16, vector: [UInt8]? = Array(0..<16)
        ) throws {
            _ = try PrefixedCipher(encrypting: text, as: form, key: key(size), vector: vector, legacy: true)
        }
        func decrypt(_ count: Int, _ form: CipherForm = CipherForm(.aes)) throws {
            let read = PrefixedCipher(form: form, ciphertext: [UInt8](repeating: 7, count: count))
            _ = try read.decrypted(key: key(16), vector: vector, legacy: false)
        }
        let unpadded = CipherForm(.aes, padding: .none)
        let faults: [(Int, () throws -> Void)] = [
            (10406, { try encrypt(SecretBytes(utf8: "")) }),
            (10406, { try decrypt(0) }),
            (10506, { _ = try PrefixedCipher(parsing: "{RC4}AAAA") }),
            (10507, { try encrypt(text, size: 15) }),
            (10507, { try encrypt(text, size: 0) }),
            (10508, { try encrypt(text, vector: [1]) }),
            (10508, { try encrypt(text, CipherForm(.aes, mode: .ecb)) }),
            (10509, { try encrypt(text, unpadded) }),
            (10509, { try decrypt(15, unpadded) }),
            (10510, { _ = try PrefixedCipher(parsing: "{AES/CTR/NoPadding}AAAA") }),
            (10510, { _ = try PrefixedCipher(parsing: "{AES/CBC}AAAA") }),
            (10511, { try decrypt(15) }),
            (10511, { try decrypt(16) }),
            (10516, { _ = try PrefixedCipher(parsing: "AES") }),
            (10519, { try encrypt(SecretBytes([UInt8](repeating: 7, count: 1 << 20 + 1))) }),
        ]
        for (number, body) in faults { #expect(error(body)?.number == number) }
    }
}
