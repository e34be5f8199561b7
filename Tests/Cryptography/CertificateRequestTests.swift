import Cryptography
import Foundation
import Testing

@Suite("Certificate request")
struct CertificateRequestTests {
    private static let identifier = String(repeating: "3f", count: 32)
    private static let subject = DistinguishedName([
        (.commonName, "clientName"), (.organizationalUnit, identifier), (.domainComponent, "RaspberryPi4"),
        (.organization, "Käse & Söhne \"GmbH\""),
    ])

    @Test(
        "a certificate request has subject and SHA-256 signature as openssl reads them (MAG checklist 11)",
        arguments: [(PrivateKey.Algorithm.rsa(bits: 2048), "sha256WithRSAEncryption"), (.p256, "ecdsa-with-SHA256")])
    func interoperate(algorithm: PrivateKey.Algorithm, signature: String) throws {
        let request = try CertificateRequest(subject: Self.subject, key: PrivateKey(generating: algorithm))
        let shown = try OpenSSLCommand.run(
            "req", "-inform", "DER", "-verify", "-noout", "-subject", "-text", "-nameopt", "utf8,sep_comma_plus,sname",
            input: request.der)
        #expect(shown.status == 0)
        #expect(shown.output.contains("verify OK"))
        #expect(shown.output.contains("Version: 1 (0x0)"))
        #expect(shown.output.contains(signature))
        #expect(
            shown.output.contains(
                "subject=CN=clientName,OU=\(Self.identifier),DC=RaspberryPi4,O=Käse & Söhne \"GmbH\""))
        let layout = try OpenSSLCommand.run("asn1parse", "-inform", "DER", input: request.der)
        #expect(layout.output.contains("UTF8STRING        :clientName"))
        #expect(layout.output.contains("IA5STRING         :RaspberryPi4"))
    }

    @Test("a certificate request is read back with subject and key")
    func roundTrip() throws {
        let key = try PrivateKey(generating: .p256)
        let request = try CertificateRequest(der: CertificateRequest(subject: Self.subject, key: key).der)
        #expect(request.subject == Self.subject)
        #expect(request.subject[.organization] == "Käse & Söhne \"GmbH\"")
        #expect(request.subject[.country] == nil)
        #expect(request.publicKey == key.publicKey)
    }

    @Test("a certificate request is refused when it is changed, cut, lengthened or too long")
    func damaged() throws {
        let der = try CertificateRequest(subject: Self.subject, key: PrivateKey(generating: .p256)).der
        var renamed = der
        let position = try #require(der.firstRange(of: Array("clientName".utf8))).lowerBound
        renamed[position] = UInt8(ascii: "k")
        #expect(throws: CryptographyError.signatureInvalid(.certificateRequest)) {
            try CertificateRequest(der: renamed)
        }
        for wrong in [[], Array(der.dropLast()), der + [0], [UInt8](repeating: 0x30, count: 1 << 20)] {
            #expect(throws: CryptographyError.self) { try CertificateRequest(der: wrong) }
        }
    }

    @Test(
        "a certificate request is not made of values that are empty, too long, or not of their type",
        arguments: [
            (DistinguishedName.Attribute.commonName, ""), (.commonName, String(repeating: "x", count: 65)),
            (.commonName, String(repeating: "x", count: 100_000)), (.commonName, "a\u{0}b"), (.organization, "a\nb"),
            (.domainComponent, "Böard"), (.country, "Germany"),
        ])
    func bounds(attribute: DistinguishedName.Attribute, value: String) throws {
        let key = try PrivateKey(generating: .p256)
        #expect(throws: CryptographyError.self) {
            try CertificateRequest(subject: DistinguishedName([(attribute, value)]), key: key)
        }
    }

    @Test("a certificate request shows its subject in a form that no value can forge")
    func description() {
        let name = DistinguishedName([
            (.commonName, "a,O=evil"), (.organization, "x\u{1B}[2J"), (.domainComponent, " y"),
        ])
        #expect(name.description == "CN=a\\,O\\=evil,O=x\u{FFFD}[2J,DC=\\ y")
    }
}
