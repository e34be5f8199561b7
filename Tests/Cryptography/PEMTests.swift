@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Testing

/// Certificates as other tools write them: the places, the labels and the line ends differ.
@Suite("PEM as people's tools write it")
struct PEMTests {
    private let authority: TestAuthority
    private let root: String

    init() throws {
        authority = try TestAuthority()
        root = authority.root.pem
    }

    private var both: [Certificate] { [authority.root, authority.intermediate] }

    private func reason(_ text: String) -> String? {
        do throws(CryptographyError) {
            _ = try Certificate.some(inPEM: text)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("certificates are read through marks, indentation, any line end, text and other blocks")
    func lenient() throws {
        let second = authority.intermediate.pem
        let indented = (root + second).split(separator: "\n").map { "\t  \($0) " }.joined(separator: "\n")
        for text in [
            "\u{FEFF}" + root + "\u{FEFF}" + second, (root + second).replacing("\n", with: "\r\n"),
            (root + second).replacing("\n", with: "\r"), indented,
            "Bag Attributes\n    friendlyName: a\n" + root + "----\n" + second,
            root + "-----BEGIN PRIVATE KEY-----\nnot base64\n-----END PRIVATE KEY-----\n" + second,
            root.replacing(" CERTIFICATE", with: " X509 CERTIFICATE") + second,
            root.replacing("BEGIN CERTIFICATE-----\n", with: "BEGIN CERTIFICATE-----\nA: b\n c\n\n") + second,
        ] {
            #expect(try Certificate.some(inPEM: text) == both)
        }
        let wide: [UInt8] = [0xFF, 0xFE] + (root + second).utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(try Certificate.some(inFile: wide) == both)
        #expect(try Certificate.some(inFile: [0xE4, 0x0A] + Array((root + second).utf8)) == both)
    }

    @Test("a certificate with OpenSSL's settings of trust is read, unless they reject it for servers")
    func trusted() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(root, as: "root.pem")
        func trusted(_ option: String, _ purpose: String) throws -> String {
            let result = try OpenSSLCommand.run("x509", "-in", path, "-trustout", option, purpose)
            return result.output
        }
        let accepted = try trusted("-addtrust", "serverAuth")
        #expect(accepted.contains("BEGIN TRUSTED CERTIFICATE"))
        #expect(try Certificate.some(inPEM: accepted) == [authority.root])
        for rejected in [try trusted("-addreject", "serverAuth"), try trusted("-addtrust", "emailProtection")] {
            #expect(reason(rejected) == "that of line 1: its settings of trust reject it for servers")
        }
    }

    @Test("a fault of PEM is named with its line")
    func faults() throws {
        let lines = root.split(separator: "\n").map(String.init)
        let last = lines.count
        func changed(_ index: Int, _ line: String) -> String {
            var lines = lines
            lines[index] = line
            return lines.joined(separator: "\n")
        }
        let alone = "does not have exactly one marker: write each BEGIN and END line alone"
        let glued = lines.joined(separator: "\n") + root
        #expect(reason(glued) == "line \(last) \(alone)")
        #expect(reason(changed(last - 1, "AAAA-----END CERTIFICATE-----")) == "line \(last) \(alone)")
        #expect(reason(changed(0, "-----BEGIN CERTIFICATE")) == "line 1 \(alone)")
        #expect(reason(root.replacing("\n", with: "\\n")) == "line 1 \(alone)")
        #expect(reason("\n" + changed(2, "!!!!")) == "line 4 is not base64")
        // So many that one is left over: none of what a certificate of any length may end with has that.
        let count = lines.dropFirst().dropLast().joined().filter { $0 != "=" }.count
        #expect(
            reason(changed(2, String(lines[2].dropLast((count + 3) % 4))))
                == "the base64 after line 1 is truncated or too long")
        #expect(reason(lines.dropLast().joined(separator: "\n")) == "the block that begins in line 1 does not end")
        #expect(
            reason(lines.dropFirst().joined(separator: "\n")) == "line \(last - 1) ends a block that does not begin")
        #expect(reason(lines[0] + "\n" + root) == "line 2 begins before the block of line 1 ends")
        #expect(
            reason(changed(last - 1, "-----END PRIVATE KEY-----"))
                == "line \(last) ends a different kind of block than line 1 begins")
        #expect(
            reason(changed(1, "A: b")) == "the headers after line 1 do not end: write an empty line after them")
        let empty = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----"
        #expect(reason(empty)?.hasPrefix("that of line 1: ") == true)
    }

    @Test("a file without a certificate says what it holds")
    func others() throws {
        #expect(reason("nothing here\n------------\n") == "there is no line -----BEGIN CERTIFICATE-----")
        let request = "-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----"
        #expect(reason("\n" + request) == "there is none; line 2 begins \"CERTIFICATE REQUEST\"")
        #expect(
            throws: CryptographyError.malformed(
                .certificate, reason: "it is DER, not PEM; openssl x509 -inform DER -in FILE writes it as PEM")
        ) { try Certificate.some(inFile: authority.root.der) }
    }

    @Test("a private key is read among other blocks, and one of another format says which command converts it")
    func keys() throws {
        let key = try PrivateKey(generating: .p256)
        let der = try key.pkcs8().withUnsafeBytes { Array($0) }
        let block = "-----BEGIN PRIVATE KEY-----\r\n\(Base64.encode(der))\r\n-----END PRIVATE KEY-----\r\n"
        let read = try PrivateKey(pem: SecretBytes(utf8: "\u{FEFF}" + block + root))
        #expect(read.publicKey == key.publicKey)
        for (text, reason) in [
            (root, "there is no line -----BEGIN PRIVATE KEY-----"), (block + block, "lines 1 and 4 begin one each"),
            (
                block.replacing(" PRIVATE", with: " EC PRIVATE"),
                "line 1 begins a key of another format; openssl pkcs8 -topk8 -nodes -in FILE writes it as PKCS#8"
            ),
            (
                block.replacing(" PRIVATE", with: " ENCRYPTED PRIVATE"),
                "line 1 begins an encrypted key; openssl pkcs8 -topk8 -nodes -in FILE writes it as PKCS#8"
            ),
            (block.replacing("END", with: "BEGIN"), "line 3 begins before the block of line 1 ends"),
        ] {
            #expect(throws: CryptographyError.malformed(.privateKey, reason: reason)) {
                try PrivateKey(pem: SecretBytes(utf8: text))
            }
        }
    }
}
