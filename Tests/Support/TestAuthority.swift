@_spi(KeyBytes) import Cryptography
import Foundation

/// A certificate authority of a test's own.
package struct TestAuthority {
    package let certificate: Certificate
    private let key: PrivateKey

    package init(_ name: String = "Test CA") throws {
        key = try PrivateKey(generating: .p256)
        let template = Self.template(name, isCA: true, from: -3600, until: 3600)
        certificate = try template.issue(for: key.publicKey, by: nil, signedWith: key)
    }

    /// - Parameters:
    ///   - from: seconds from now, as `until`.
    ///   - key: its key; `nil` makes one on P-256.
    package func identity(
        _ name: String, dnsNames: [String] = [], ipAddresses: [String] = [], usage: CertificateTemplate.Usage = .server,
        from: TimeInterval = -3600, until: TimeInterval = 3600, key: PrivateKey? = nil
    ) throws -> TLSIdentity {
        let key = try key ?? PrivateKey(generating: .p256)
        var template = Self.template(name, isCA: false, from: from, until: until)
        template.dnsNames = dnsNames
        template.ipAddresses = ipAddresses
        template.usage = [usage]
        let leaf = try template.issue(for: key.publicKey, by: certificate, signedWith: self.key)
        return TLSIdentity(key: key, chain: [leaf])
    }

    /// The server of most tests: valid for `localhost`.
    package func localhost() throws -> TLSIdentity { try identity("localhost", dnsNames: ["localhost"]) }

    private static func template(
        _ name: String, isCA: Bool, from: TimeInterval, until: TimeInterval
    ) -> CertificateTemplate {
        CertificateTemplate(
            subject: DistinguishedName([(.commonName, name)]), notBefore: Date(timeIntervalSinceNow: from),
            notAfter: Date(timeIntervalSinceNow: until), isCA: isCA)
    }
}

extension TLSIdentity {
    package var leafPin: PublicKeyPin { PublicKeyPin(of: key.publicKey) }

    package var keyPEM: String {
        get throws {
            let key = Data(try key.pkcs8().exposed()).base64EncodedString(options: .lineLength64Characters)
            return "-----BEGIN PRIVATE KEY-----\n\(key)\n-----END PRIVATE KEY-----\n"
        }
    }
}
