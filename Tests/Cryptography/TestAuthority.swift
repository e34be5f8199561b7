import Cryptography
import Foundation

/// A root and an intermediate authority, made anew, that issue what a test needs.
struct TestAuthority {
    /// The time that tests judge certificates at.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let day = 86_400.0

    let rootKey: PrivateKey
    let root: Certificate
    let intermediateKey: PrivateKey
    let intermediate: Certificate

    init() throws {
        rootKey = try PrivateKey(generating: .p256)
        root = try Self.template("Test Root", isCA: true).issue(for: rootKey.publicKey, by: nil, signedWith: rootKey)
        intermediateKey = try PrivateKey(generating: .p256)
        intermediate = try Self.template("Test Intermediate", isCA: true)
            .issue(for: intermediateKey.publicKey, by: root, signedWith: rootKey)
    }

    static func template(_ name: String, isCA: Bool = false) -> CertificateTemplate {
        CertificateTemplate(
            subject: DistinguishedName([(.commonName, name)]), notBefore: now - 10 * day, notAfter: now + 10 * day,
            isCA: isCA)
    }

    /// A server's identity, issued by the intermediate; the chain is leaf and intermediate.
    func server(
        name: String = "server", dnsNames: [String] = ["localhost"], ipAddresses: [String] = [],
        from start: Date = now - day, to end: Date = now + day, usage: Set<CertificateTemplate.Usage> = [.server]
    ) throws -> TLSIdentity {
        let key = try PrivateKey(generating: .p256)
        let template = CertificateTemplate(
            subject: DistinguishedName([(.commonName, name)]), notBefore: start, notAfter: end, dnsNames: dnsNames,
            ipAddresses: ipAddresses, usage: usage)
        let leaf = try template.issue(for: key.publicKey, by: intermediate, signedWith: intermediateKey)
        return TLSIdentity(key: key, chain: [leaf, intermediate])
    }

    /// A client's identity, issued by the intermediate.
    func client(name: String) throws -> TLSIdentity { try server(name: name, dnsNames: [], usage: [.client]) }
}
