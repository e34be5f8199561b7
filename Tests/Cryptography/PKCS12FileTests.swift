import Foundation
import Groundwork
import Testing

@_spi(KeyBytes) @testable import Cryptography

/// Files of the `openssl pkcs12` command, which writes them as browsers, Java and Windows do.
@Suite("PKCS#12 files")
struct PKCS12FileTests {
    private let folder: TemporaryFolder
    /// As options of `openssl pkcs12 -export`.
    private let pair: [String]
    private let key: PublicKey

    init() throws {
        folder = try TemporaryFolder()
        (pair, key) = try Self.made(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], in: folder)
    }

    /// A key and a certificate of it.
    private static func made(_ algorithm: [String], in folder: TemporaryFolder) throws -> ([String], PublicKey) {
        let (key, certificate) = (folder.path("\(UUID())"), folder.path("\(UUID())"))
        try #require(try OpenSSLCommand.run(["genpkey", "-out", key] + algorithm).status == 0)
        let made = try OpenSSLCommand.run("req", "-x509", "-new", "-key", key, "-subj", "/CN=a", "-out", certificate)
        try #require(made.status == 0, "\(made.output)")
        let text = try String(contentsOfFile: certificate, encoding: .utf8)
        return (["-inkey", key, "-in", certificate], try Certificate(pem: text).publicKey)
    }

    private func file(_ options: [String], of pair: [String]? = nil, password: String = "pass word ä") throws
        -> SecretBytes
    {
        let path = folder.path("\(UUID())")
        let made = try OpenSSLCommand.run(
            ["pkcs12", "-export", "-out", path, "-passout", "pass:\(password)"] + options + (pair ?? self.pair))
        try #require(made.status == 0, "\(made.output)")
        return SecretBytes(try Data(contentsOf: URL(filePath: path)))
    }

    private func error(_ file: SecretBytes, _ password: String = "pass word ä") -> CryptographyError? {
        do throws(CryptographyError) {
            _ = try PrivateKey(pkcs12: file, password: SecretBytes(utf8: password))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "PKCS#12 files give their key, however it and the certificates are encrypted",
        arguments: [
            [], ["-legacy"], ["-legacy", "-keypbe", "PBE-SHA1-RC2-40"],
            ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "SHA1"],
            ["-keypbe", "NONE", "-certpbe", "NONE"], ["-iter", "100000"], ["-macalg", "SHA512"],
        ])
    func read(options: [String]) throws {
        for password in ["pass word ä", ""] {
            let read = try PrivateKey(
                pkcs12: file(options, password: password), password: SecretBytes(utf8: password))
            #expect(read.publicKey == key)
        }
    }

    @Test("PKCS#12 files with RSA keys are read, and with keys of another kind refused")
    func kinds() throws {
        let (rsa, key) = try Self.made(["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], in: folder)
        let read = try PrivateKey(pkcs12: file([], of: rsa), password: SecretBytes(utf8: "pass word ä"))
        #expect(read.publicKey == key)
        for algorithm in [
            ["-algorithm", "ED25519"], ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ] {
            let (other, _) = try Self.made(algorithm, in: folder)
            #expect(error(try file([], of: other))?.code == "cryptography.unsuitable-key")
        }
    }

    @Test("PKCS#12 files say apart: another password, no key, changes, too much work")
    func refused() throws {
        let whole = try file([])
        #expect(error(whole, "pass word a") == .wrongPassword(.keyFile))
        #expect(error(whole, "") == .wrongPassword(.keyFile))
        #expect(error(try file(["-nokeys"], of: pair.suffix(2))) == .noKey(.keyFile))
        #expect(error(try file(["-iter", "5000001", "-nomaciter"]))?.reason.contains("5000000 times") == true)
        #expect(error(try file(["-nomac"]))?.reason.contains("MAC") == true)
        var bytes = whole.exposed()
        bytes[bytes.count / 3] ^= 1
        #expect(error(SecretBytes(bytes)) != nil)
        for wrong in [[], Array(whole.exposed().dropLast()), whole.exposed() + [0]] as [[UInt8]] {
            #expect(error(SecretBytes(wrong))?.code == "cryptography.malformed")
        }
        #expect(
            error(SecretBytes([UInt8](repeating: 0x30, count: 1_048_577)))
                == .tooLong(.keyFile, count: 1_048_577, limit: 1_048_576))
    }
}
