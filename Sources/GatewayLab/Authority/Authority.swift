import Cryptography
import Foundation
import Groundwork
import NIOCore

/// The lab's keys: its CA, its server's key and the key it signs with.
///
/// The server's and the signing key are RSA keys of 2048 bits, because one of the known clients can pin no other kind
/// (MAG 1.4) and RS256 needs one.
struct Authority: Sendable {
    /// The CA's own certificate.
    let certificate: Certificate
    let key: PrivateKey
    /// The chain of the gateway and the broker; leaf first, then the CA.
    let server: TLSIdentity
    /// For id_tokens; published with its certificate.
    let signer: Signer
    /// For enrollment URLs. An elliptic key, so that their QR codes stay small.
    let ticketKey: PrivateKey
    /// More keys, for what the lab shows and for clients that it makes.
    let rsaKeys: RSAKeys
    let host: String

    /// - Parameter keys: those of an earlier run of the lab, or new ones.
    init(keys: AuthorityKeys, host: String, now: Date) throws {
        certificate = keys.certificate
        key = keys.authority
        ticketKey = keys.tickets
        rsaKeys = keys.rsaKeys
        self.host = host
        // The server's certificate is made anew at each start, because the host may have changed; its key stays, and
        // so do all pins.
        let leaf = try Self.serverCertificate(
            for: keys.server.publicKey, host: host, alternatives: ["localhost", "127.0.0.1"], by: keys.certificate,
            signedWith: keys.authority, from: now - Self.day, until: now + Self.serverLife)
        server = TLSIdentity(key: keys.server, chain: [leaf, keys.certificate])
        signer = Signer(key: keys.signing, authority: keys, now: now)
    }

    static let organization = "Latchkey Lab"
    static let day: TimeInterval = 86_400
    /// Lifetime of the CA: ten years.
    static let life = 3650 * day
    private static let serverLife = 365 * day

    /// A client certificate for a device's key, with the requested subject.
    func certify(_ device: PublicKey, subject: DistinguishedName, from now: Date, seconds: Int) throws -> Certificate {
        // Valid from an hour ago, for boards whose clock is slow.
        let template = CertificateTemplate(
            subject: subject, notBefore: now - 3600, notAfter: now + TimeInterval(seconds), usage: [.client])
        return try template.issue(for: device, by: certificate, signedWith: key)
    }

    /// The identity that the server shows for a face.
    func identity(for face: ServerFace, now: Date) throws -> TLSIdentity {
        var key = server.key
        var name = host
        var hasAlternatives = true
        var (issuer, issuerKey) = (certificate, self.key)
        var (start, end) = (now - Self.day, now + Self.serverLife)
        switch face {
        case .genuine: return server
        case .otherKey: key = try rsaKeys.take()
        case .expired: (start, end) = (now - Self.serverLife, now - Self.day)
        case .otherHost: name = "other.lab.test"
        case .commonNameOnly: hasAlternatives = false
        case .otherAuthority:
            issuerKey = try PrivateKey(generating: .p256)
            issuer = try AuthorityKeys.selfSigned(issuerKey, now: now)
        }
        let leaf = try Self.serverCertificate(
            for: key.publicKey, host: name, hasAlternatives: hasAlternatives, by: issuer, signedWith: issuerKey,
            from: start, until: end)
        return TLSIdentity(key: key, chain: [leaf, issuer])
    }

    /// For one host; the genuine certificate also for loopback, by name and by address.
    ///
    /// - Parameter hasAlternatives: whether it has subject alternative names.
    private static func serverCertificate(
        for key: PublicKey, host: String, alternatives: [String] = [], hasAlternatives: Bool = true,
        by issuer: Certificate, signedWith issuerKey: PrivateKey, from start: Date, until end: Date
    ) throws -> Certificate {
        let names = hasAlternatives ? [host] + alternatives.filter { $0 != host } : []
        let isAddress: (String) -> Bool = { (try? SocketAddress(ipAddress: $0, port: 0)) != nil }
        let template = CertificateTemplate(
            subject: DistinguishedName([(.organization, organization), (.commonName, host)]), notBefore: start,
            notAfter: end, dnsNames: names.filter { !isAddress($0) }, ipAddresses: names.filter(isAddress),
            usage: [.server])
        return try template.issue(for: key, by: issuer, signedWith: issuerKey)
    }
}

/// The private keys behind an ``Authority``, kept from run to run.
struct AuthorityKeys: Sendable {
    let authority: PrivateKey
    /// Self-signed.
    let certificate: Certificate
    let server: PrivateKey
    /// `nil` makes one when first needed.
    let signing: PrivateKey?
    let tickets: PrivateKey
    let rsaKeys: RSAKeys

    /// - Parameter keeping: whether they are kept on disk, so that the signing key has to be there from the start.
    static func generate(now: Date, keeping: Bool) throws -> AuthorityKeys {
        let authority = try PrivateKey(generating: .p256)
        let rsaKeys = RSAKeys()
        return AuthorityKeys(
            authority: authority, certificate: try selfSigned(authority, now: now),
            server: keeping ? try PrivateKey(generating: .rsa(bits: 2048)) : try rsaKeys.take(),
            signing: keeping ? try PrivateKey(generating: .rsa(bits: 2048)) : nil,
            tickets: try PrivateKey(generating: .p256), rsaKeys: rsaKeys)
    }

    static func selfSigned(_ key: PrivateKey, now: Date) throws -> Certificate {
        // Each CA has its own name, so that chains of two labs cannot be confused.
        let name = "Latchkey Lab CA \(Hex.encode(key.publicKey.spkiSHA256.prefix(4)))"
        let template = CertificateTemplate(
            subject: DistinguishedName([(.organization, Authority.organization), (.commonName, name)]),
            notBefore: now - Authority.day, notAfter: now + Authority.life, isCA: true)
        return try template.issue(for: key.publicKey, by: nil, signedWith: key)
    }
}
