import Foundation
import Groundwork
import TestSupport
import Testing

@_spi(KeyBytes) @testable import Cryptography

/// Files with a key and its certificates, as the programs write them that people have.
@Suite("Identity files")
struct IdentityFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a script with an authority `ca`, and `key.pem` with `certificate.pem` of its, in the folder.
    private func made(_ script: String, key: String = "-newkey rsa:2048") async throws {
        let made = try await Program(url: URL(filePath: "/bin/sh")).run([
            "-ec",
            """
            cd "$1"; exec >log 2>&1
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 30
            openssl req \(key) -nodes -keyout key.pem -out request.pem -subj /CN=board
            openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -set_serial 7 -days 30 -out certificate.pem
            \(script)
            """, "sh", folder.path("."),
        ])
        let log = (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
        try #require(made.status == 0, "\(made.errors)\(log)")
    }

    private func bytes(_ name: String) throws -> SecretBytes {
        SecretBytes(try Data(contentsOf: URL(filePath: folder.path(name))))
    }

    private func read(_ name: String, _ password: String = "pass word") throws -> [IdentityFile.Found] {
        try IdentityFile.identities(in: bytes(name), password: SecretBytes(utf8: password))
    }

    private func error(_ name: String, _ password: String = "pass word") throws -> CryptographyError? {
        let file = try bytes(name)
        do throws(CryptographyError) {
            _ = try IdentityFile.identities(in: file, password: SecretBytes(utf8: password))
            return nil
        } catch {
            return error
        }
    }

    /// As all programs below have it in their files.
    private func expect(_ found: [IdentityFile.Found], _ source: SourceLocation = #_sourceLocation) throws {
        let leaf = try Certificate(pem: String(contentsOfFile: folder.path("certificate.pem"), encoding: .utf8))
        let authority = try Certificate(pem: String(contentsOfFile: folder.path("ca.pem"), encoding: .utf8))
        let key = try PrivateKey(pkcs8: pkcs8()).publicKey
        #expect(found.count == 1, sourceLocation: source)
        #expect(found.first?.identity.chain == [leaf, authority], sourceLocation: source)
        #expect(found.first?.identity.key.publicKey == key, sourceLocation: source)
    }

    private func pkcs8() throws -> SecretBytes {
        let text = try String(contentsOfFile: folder.path("key.pem"), encoding: .utf8)
        return SecretBytes(try PEM.blocks(in: text, .privateKey)[0].der(.privateKey))
    }

    @Test("identity files with a key of DSA are refused before its public half is computed, which may take days")
    func dsa() async throws {
        try await made(
            """
            openssl dsaparam -genkey -out dsa.key 2048
            openssl pkcs8 -topk8 -nocrypt -in dsa.key -out dsa.pem
            openssl req -x509 -key dsa.key -subj /CN=board -days 30 -out dsa-certificate.pem
            openssl pkcs12 -export -inkey dsa.key -in dsa-certificate.pem -passout 'pass:pass word' -out dsa.p12
            """)
        for name in ["dsa.pem", "dsa.p12"] {
            #expect(try error(name) == .unsuitableKey(reason: "it is dsaEncryption"), "\(name)")
        }
    }

    private static let export = "openssl pkcs12 -export -inkey key.pem -in certificate.pem -certfile ca.pem"

    @Test(
        "identity files of openssl are read, in every encryption of it, with a name and a password or none",
        arguments: [
            "", "-legacy", "-legacy -keypbe PBE-SHA1-RC2-40 -certpbe PBE-SHA1-RC2-40", "-legacy -keypbe DES-CBC",
            "-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg SHA1", "-keypbe NONE -certpbe NONE",
            "-keypbe AES-256-CBC -certpbe AES-128-CBC -macalg SHA512 -iter 100000",
        ])
    func openssl(options: String) async throws {
        try await made(
            """
            \(Self.export) \(options) -name 'bürö 7' -passout 'pass:pass word' -out file.p12
            \(Self.export) \(options) -passout pass: -out empty.p12
            """)
        let found = try read("file.p12")
        try expect(found)
        #expect(found.first?.name == "bürö 7")
        try expect(try read("empty.p12", ""))
        #expect(try error("empty.p12", "x") == .wrongPassword(.keyFile))
        #expect(try error("file.p12", "") == .wrongPassword(.keyFile))
    }

    @Test("identity files of NSS, GnuTLS, Java and python3-cryptography are read", .timeLimit(.minutes(2)))
    func programs() async throws {
        try await made(
            """
            \(Self.export) -name board -passout 'pass:pass word' -out file.p12
            mkdir nss; printf '%s' 'pass word' >password; : >none
            certutil -N -d nss --empty-password
            pk12util -i file.p12 -d nss -K '' -w password
            pk12util -o nss.p12 -n board -d nss -K '' -w password
            keytool -importkeystore -srckeystore file.p12 -srcstoretype PKCS12 -srcstorepass 'pass word' \
                -destkeystore java.p12 -deststoretype PKCS12 -deststorepass 'pass word' -noprompt
            certtool --to-p12 --load-privkey key.pem --load-certificate certificate.pem --load-ca-certificate ca.pem \
                --p12-name board --password 'pass word' --outder --outfile gnutls.p12
            python3 -c '
            from cryptography import x509
            from cryptography.hazmat.primitives.serialization import (
                BestAvailableEncryption, load_pem_private_key, pkcs12)
            read = lambda name: open(name, "rb").read()
            made = pkcs12.serialize_key_and_certificates(
                b"board", load_pem_private_key(read("key.pem"), None),
                x509.load_pem_x509_certificate(read("certificate.pem")),
                [x509.load_pem_x509_certificate(read("ca.pem"))], BestAvailableEncryption(b"pass word"))
            open("python.p12", "wb").write(made)'
            """)
        for program in ["nss", "java", "gnutls", "python"] {
            try expect(try read("\(program).p12"))
            #expect(try error("\(program).p12", "other") == .wrongPassword(.keyFile), "\(program)")
        }
    }

    @Test("identity files with keys on P-256 and P-384 are read, which a TLS client shows")
    func curves() async throws {
        for curve in ["P-256", "P-384"] {
            try await made(
                "\(Self.export) -passout 'pass:pass word' -out file.p12",
                key: "-newkey ec -pkeyopt ec_paramgen_curve:\(curve)")
            let found = try read("file.p12")
            try expect(found)
            let identity = try #require(found.first?.identity)
            _ = try TLSContext(trust: ServerTrust(host: "localhost", anchors: identity.chain), identity: identity)
            #expect((JWS.algorithm(of: identity.key) == nil) == (curve == "P-384"))
        }
    }

    @Test("identity files in PEM are read, with the key plain or encrypted, and in any order")
    func pem() async throws {
        try await made(
            """
            cat ca.pem key.pem certificate.pem >plain.pem
            openssl pkcs8 -topk8 -in key.pem -passout 'pass:pass word' -out new.key
            openssl pkcs8 -topk8 -in key.pem -passout 'pass:pass word' -v1 PBE-MD5-DES -provider legacy \
                -provider default -out old.key
            openssl pkcs8 -topk8 -in key.pem -passout 'pass:pass word' -scrypt -out scrypt.key
            openssl pkcs8 -topk8 -in key.pem -passout 'pass:pass word' -iter 5000001 -out long.key
            openssl rsa -traditional -in key.pem -out traditional.key
            for key in new old scrypt long traditional; do cat $key.key certificate.pem ca.pem >$key.pem; done
            """)
        try expect(try read("plain.pem", ""))
        try expect(try read("new.pem"))
        try expect(try read("old.pem"))
        #expect(try error("new.pem", "") == .wrongPassword(.privateKey))
        #expect(try error("new.pem", "other") == .wrongPassword(.privateKey))
        #expect(try error("scrypt.pem") == .unsupportedEncryption(.privateKey, algorithm: "PBES2"))
        #expect(try error("long.pem")?.reason.contains("5000000 times") == true)
        #expect(try error("traditional.pem")?.reason.contains("openssl pkcs8 -topk8") == true)
        #expect(try error("key.pem") == .noCertificate(.identityFile))
        #expect(try error("ca.pem") == .noKey(.identityFile))
        #expect(try error("log")?.code == "cryptography.malformed")
    }

    @Test("identity files with two identities give both, each with its own certificate, the newest of several")
    func several() async throws {
        try await made(
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout b.key -out b.pem -subj /CN=b -days 5
            openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -set_serial 8 -days 3 -out older.pem
            cat older.pem b.pem key.pem certificate.pem b.key ca.pem b.key >both.pem
            """)
        let found = try read("both.pem", "")
        #expect(found.map { $0.identity.chain.map(\.serialNumber.count) }.map(\.count) == [2, 1])
        #expect(found.map { $0.identity.chain[0].serialNumber }.first == "07")
        #expect(found.map { $0.identity.chain[0].subject[.commonName] } == ["board", "b"])
    }

    @Test("identity files of a system without OpenSSL's legacy provider name the old algorithm and the package")
    func withoutLegacy() async throws {
        try await made(
            "\(Self.export) -legacy -keypbe PBE-SHA1-RC2-40 -passout 'pass:pass word' -out old.p12")
        let old = try bytes("old.p12")
        let failure = CryptographyError.unsupportedEncryption(.keyFile, algorithm: "pbeWithSHA1And40BitRC2-CBC")
        #expect(throws: failure) {
            try PKCS12File(old, legacyProvider: "not-installed").contents(SecretBytes(utf8: "pass word"))
        }
        #expect(failure.explanation.remedy?.contains("openssl-provider-legacy") == true)
        try expect(try read("old.p12"))
    }
}
