import Cryptography
import Foundation
import Testing

@Suite("Certificate")
struct CertificateTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    @Test("a certificate is issued as its template says, and the openssl command verifies it")
    func interoperate() throws {
        let folder = try TemporaryFolder()
        let server = try authority.server(dnsNames: ["gateway.example.org"], ipAddresses: ["127.0.0.1", "::1"])
        let root = try folder.write(authority.root.pem, as: "root.pem")
        let intermediate = try folder.write(authority.intermediate.pem, as: "intermediate.pem")
        let leaf = try folder.write(server.chain[0].pem, as: "leaf.pem")
        for host in [["-verify_hostname", "gateway.example.org"], ["-verify_ip", "::1"]] {
            let verified = try OpenSSLCommand.run(
                "verify", "-x509_strict", "-CAfile", root, "-untrusted", intermediate, "-purpose", "sslserver", host[0],
                host[1], "-attime", "\(Int(TestAuthority.now.timeIntervalSince1970))", leaf)
            #expect(verified.status == 0, "\(verified.output)")
        }
        let shown = try OpenSSLCommand.run("x509", "-in", leaf, "-noout", "-text")
        #expect(shown.output.contains("TLS Web Server Authentication"))
        #expect(!shown.output.contains("TLS Web Client Authentication"))
        #expect(shown.output.contains("IP Address:127.0.0.1"))
    }

    @Test("a certificate names the key that signed it, its own if it is its own issuer (RFC 5280 section 4.2.1.1)")
    func authorityKeyIdentifier() throws {
        let folder = try TemporaryFolder()
        /// The identifiers that the openssl command reads: subject's, authority's.
        func identifiers(_ certificate: Certificate) throws -> (String, String) {
            let path = try folder.write(certificate.pem, as: "\(certificate.serialNumber).pem")
            func value(_ name: String) throws -> String {
                let shown = try OpenSSLCommand.run("x509", "-in", path, "-noout", "-ext", name).output
                return String(shown.split(separator: "\n").last ?? "").trimmingCharacters(in: .whitespaces)
            }
            return (try value("subjectKeyIdentifier"), try value("authorityKeyIdentifier"))
        }
        let (root, ofRoot) = try identifiers(authority.root)
        #expect(root.count == 59 && ofRoot == root)
        let (intermediate, ofIntermediate) = try identifiers(authority.intermediate)
        #expect(intermediate != root && ofIntermediate == root)
        #expect(try identifiers(try authority.client(name: "board").chain[0]).1 == intermediate)
    }

    @Test("a certificate gives subject, issuer, dates, names, serial number and key")
    func fields() throws {
        let key = try PrivateKey(generating: .p256)
        let (start, end) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 4_102_444_800))
        let template = CertificateTemplate(
            subject: DistinguishedName([(.commonName, "board")]), notBefore: start, notAfter: end,
            dnsNames: ["a.example", "b.example"], usage: [.client])
        let certificate = try template.issue(
            for: key.publicKey, by: authority.root, signedWith: authority.rootKey)
        #expect(certificate.subject[.commonName] == "board")
        #expect(certificate.issuer == authority.root.subject)
        #expect(certificate.notBefore == start)
        // After 2049, where X.509 changes from UTCTime to GeneralizedTime.
        #expect(certificate.notAfter == end)
        #expect(certificate.dnsNames == ["a.example", "b.example"])
        #expect(certificate.publicKey == key.publicKey)
        #expect(certificate.spkiSHA256 == key.publicKey.spkiSHA256)
        #expect(!certificate.isCA)
        #expect(authority.root.isCA)
        let shown = try OpenSSLCommand.run("x509", "-inform", "DER", "-noout", "-serial", input: certificate.der)
        #expect(shown.output.lowercased() == "serial=\(certificate.serialNumber)\n")
        #expect(certificate.serialNumber.count == 32)
    }

    @Test(
        "a certificate of the openssl command is read, whatever strong kind its key is", arguments: ["P-256", "P-384"])
    func foreign(curve: String) throws {
        let made = try OpenSSLCommand.run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-nodes", "-keyout", "/dev/null",
            "-subj", "/C=DE/O=Test/CN=other", "-days", "2", "-addext", "subjectAltName=DNS:other.example,IP:10.0.0.1")
        let begin = try #require(made.output.range(of: "-----BEGIN CERTIFICATE"))
        let certificate = try Certificate(pem: String(made.output[begin.lowerBound...]))
        #expect(
            certificate.subject
                == DistinguishedName([(.country, "DE"), (.organization, "Test"), (.commonName, "other")]))
        #expect(certificate.dnsNames == ["other.example"])
        #expect(abs(certificate.notAfter.timeIntervalSince(certificate.notBefore) - 2 * 86_400) < 1)
        #expect(certificate.isIssued(by: certificate))
    }

    @Test("a certificate knows who issued it")
    func issuer() throws {
        let other = try TestAuthority()
        let leaf = try authority.server().chain[0]
        #expect(leaf.isIssued(by: authority.intermediate))
        #expect(authority.intermediate.isIssued(by: authority.root))
        #expect(!leaf.isIssued(by: authority.root))
        // The same names, another key.
        #expect(!leaf.isIssued(by: other.intermediate))
    }

    @Test("a certificate goes to PEM and back, among text, with either line end, several at once")
    func pem() throws {
        let two = authority.root.pem + "between\n" + authority.intermediate.pem
        #expect(try Certificate.all(inPEM: two) == [authority.root, authority.intermediate])
        #expect(
            try Certificate.all(inPEM: two.replacing("\n", with: "\r\n")) == [authority.root, authority.intermediate])
        #expect(try Certificate.all(inPEM: "nothing here") == [])
        #expect(try Certificate(pem: authority.root.pem) == authority.root)
        #expect(authority.root.pem.split(separator: "\n").allSatisfy { $0.count <= 64 })
        #expect(throws: CryptographyError.self) { try Certificate(pem: two) }
        #expect(throws: CryptographyError.self) { try Certificate(pem: "") }
    }

    @Test("a certificate in PEM that does not end, begins twice or is not base 64 is refused")
    func damagedPEM() throws {
        let lines = authority.root.pem.split(separator: "\n").map(String.init)
        for wrong in [
            lines.dropLast().joined(separator: "\n"), lines.dropFirst().joined(separator: "\n"),
            ([lines[0]] + lines).joined(separator: "\n"), authority.root.pem.replacing(lines[2], with: "!!!!"),
            String(repeating: "x", count: 2 << 20),
        ] {
            #expect(throws: CryptographyError.self) { try Certificate.all(inPEM: wrong) }
        }
    }

    @Test("a certificate with bytes cut off or added, or of too many bytes, is refused")
    func damaged() {
        let der = authority.root.der
        for wrong in [[], Array(der.dropLast()), der + [0], [UInt8](repeating: 0x30, count: 70_000)] {
            #expect(throws: CryptographyError.self) { try Certificate(der: wrong) }
        }
    }

    @Test("a certificate is not issued for invalid hosts, or for dates X.509 cannot write")
    func badTemplates() throws {
        let key = try PrivateKey(generating: .p256)
        var template = CertificateTemplate(
            subject: DistinguishedName([(.commonName, "x")]), notBefore: TestAuthority.now, notAfter: TestAuthority.now)
        template.dnsNames = ["a b"]
        #expect(throws: CryptographyError.self) { try template.issue(for: key.publicKey, by: nil, signedWith: key) }
        template.dnsNames = []
        template.ipAddresses = ["1.2.3"]
        #expect(throws: CryptographyError.self) { try template.issue(for: key.publicKey, by: nil, signedWith: key) }
        template.ipAddresses = []
        for seconds in [-1, 1e18, Double.nan, .infinity] {
            template.notAfter = Date(timeIntervalSince1970: seconds)
            #expect(throws: CryptographyError.self) { try template.issue(for: key.publicKey, by: nil, signedWith: key) }
        }
    }
}
