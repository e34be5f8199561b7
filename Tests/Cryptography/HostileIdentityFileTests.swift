import COpenSSL
import Foundation
import Groundwork
import TestSupport
import Testing

@_spi(KeyBytes) @testable import Cryptography

/// Files that somebody else wrote, to cost work, or to have a key used with another's certificate.
@Suite("Hostile identity files")
struct HostileIdentityFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let limit = Duration.seconds(2)

    /// Runs a script that leaves `file` in the folder, and reads that.
    private func refusal(_ script: String, _ password: String = "pass word") async throws -> CryptographyError? {
        let made = try await Program(url: URL(filePath: "/bin/sh")).run([
            "-ec",
            """
            cd "$1"; exec >log 2>&1
            pair() { openssl req -x509 -nodes -keyout $1.key -out $1.pem -subj /CN=$1 -newkey "$2" $3; }
            p12() { openssl pkcs12 -export -passout 'pass:pass word' "$@" -out file; }
            \(script)
            """, "sh", folder.path("."),
        ])
        let log = (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
        try #require(made.status == 0, "\(made.errors)\(log)")
        let file = SecretBytes(try Data(contentsOf: URL(filePath: folder.path("file"))))
        var refusal: CryptographyError?
        let time = ContinuousClock().measure {
            do throws(CryptographyError) {
                _ = try IdentityFile.identities(in: file, password: SecretBytes(utf8: password))
            } catch {
                refusal = error
            }
        }
        #expect(time < Self.limit, "\(script): \(time)")
        return refusal
    }

    @Test(
        "a hostile file is refused for what it is, within two seconds",
        arguments: [
            ("pair a rsa:2048; pair b rsa:2048; cat a.key b.pem >file", "no-certificate-fits"),
            ("pair a rsa:1024; p12 -inkey a.key -in a.pem", "unsuitable-key"),
            ("pair a ec '-pkeyopt ec_paramgen_curve:P-224'; p12 -inkey a.key -in a.pem", "unsuitable-key"),
            (
                "pair a ec '-pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit'; cat a.key a.pem >file",
                "unsuitable-key"
            ),
            ("pair a rsa:2048; p12 -inkey a.key -in a.pem -keypbe NONE -certpbe NONE -nomac", "malformed"),
            ("pair a rsa:2048; p12 -inkey a.key -in a.pem; truncate -s -1 file", "malformed"),
            ("head -c 10485760 /dev/zero | tr '\\0' 0 >file", "too-long"),
            ("printf '\\060\\204\\177\\377\\377\\377' >file", "malformed"),
            ("yes '-----BEGIN PRIVATE KEY-----' | head -c 1000000 >file", "malformed"),
            (
                """
                pair a rsa:2048; : >all.pem
                for n in $(seq 40); do cat a.pem >>all.pem; done
                p12 -inkey a.key -in a.pem -certfile all.pem
                """, "malformed"
            ),
            ("pair a rsa:2048; for n in $(seq 40); do cat a.pem; done | cat a.key - >file", "malformed"),
        ])
    func refused(script: String, code: String) async throws {
        #expect(try await refusal(script)?.code == "cryptography.\(code)")
    }

    @Test("a chain whose certificates issue each other ends")
    func circle() async throws {
        // Two certificates of one key and two names, each issued by the other.
        let refusal = try await refusal(
            """
            pair a rsa:2048
            openssl req -new -key a.key -subj /CN=b -out b.csr
            openssl req -new -key a.key -subj /CN=a -out a.csr
            printf 'basicConstraints=critical,CA:true\\n' >ca.cnf
            openssl x509 -req -in b.csr -CA a.pem -CAkey a.key -set_serial 2 -extfile ca.cnf -out b.pem
            openssl x509 -req -in a.csr -CA b.pem -CAkey a.key -set_serial 3 -extfile ca.cnf -out c.pem
            cat a.key b.pem c.pem >file
            """)
        #expect(refusal == nil)
    }

    @Test("a file that asks for the most hashing is refused before any is done", arguments: [false, true])
    func work(isMAC: Bool) async throws {
        // A number of iterations in four bytes, which openssl itself would take minutes to carry out.
        let file = try await patched(isMAC: isMAC)
        let time = ContinuousClock().measure {
            #expect {
                let file = try PKCS12File(file)
                // Without the code, which is checked first, the keys are.
                let password = SecretBytes(utf8: "pass word")
                _ = try isMAC ? file.contents(password) : file.contents(unchecked: .text(password))
            } throws: { ($0 as? CryptographyError)?.reason.contains("5000000 times") == true }
        }
        #expect(time < Self.limit, "\(time)")
    }

    /// A file whose iterations are 0x00112233 as openssl made it, and 0x7FFFFFFF after that.
    private func patched(isMAC: Bool) async throws -> SecretBytes {
        _ = try await refusal(
            "pair a ec '-pkeyopt ec_paramgen_curve:P-256'; p12 -inkey a.key -in a.pem -iter 1122867 -macalg SHA1 "
                + "-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES", "other")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.path("file"))))
        let places = bytes.indices.dropLast(4).filter { Array(bytes[$0..<$0 + 5]) == [0x02, 0x03, 0x11, 0x22, 0x33] }
        let place = try #require(isMAC ? places.last : places.first)
        bytes.replaceSubrange(place + 2..<place + 5, with: [0x7F, 0xFF, 0xFF])
        return SecretBytes(bytes)
    }

    /// Replaces the code of a file by one that RFC 9579 describes.
    private static let withPBMAC1 = """
        import hashlib, hmac, sys
        def der(tag, *parts):
            body = b"".join(parts)
            count = len(body)
            size = bytes([count]) if count < 128 else b"\\x82" + count.to_bytes(2, "big")
            return bytes([tag]) + size + body
        def first(data):
            count, head = (data[1], 2) if data[1] < 128 else (int.from_bytes(data[2:2 + (data[1] & 127)], "big"), 2 + (data[1] & 127))
            return data[:head + count], data[head:head + count], data[head + count:]
        oid = lambda text: der(6, bytes.fromhex(text))
        sha256 = der(0x30, oid("2a864886f70d0209"), b"\\x05\\x00")
        version, _, rest = first(first(open("file", "rb").read())[1])
        safe, content, _ = first(rest)
        data = first(first(first(content)[2])[1])[1]
        salt, count = b"salt of the code", 2048
        parameters = der(0x30, der(0x30, oid("2a864886f70d01050c"), der(
            0x30, der(4, salt), der(2, count.to_bytes(2, "big")), der(2, b"\\x20"), sha256)), sha256)
        code = hmac.digest(hashlib.pbkdf2_hmac("sha256", b"pass word", salt, count, 32), data, "sha256")
        mac = der(0x30, der(0x30, der(0x30, oid("2a864886f70d01050e"), parameters), der(4, code)), der(4, b"-"), der(2, b"\\x01"))
        open("file", "wb").write(der(0x30, version, safe, mac))
        """

    @Test("a code by PBMAC1 is named where OpenSSL does not read it, and is not called a wrong password")
    func pbmac1() async throws {
        try Self.withPBMAC1.write(toFile: folder.path("code.py"), atomically: true, encoding: .utf8)
        let refusal = try await refusal("pair a rsa:2048; p12 -inkey a.key -in a.pem; python3 code.py")
        // OpenSSL reads it since 3.4.
        let isRead = OpenSSL_version_num() >= 0x3040_0000
        #expect(refusal == (isRead ? nil : .unsupportedEncryption(.keyFile, algorithm: "PBMAC1")))
    }
}
