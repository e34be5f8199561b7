import Cryptography
import Foundation
import Groundwork
import Synchronization

/// The RSA key that signs id_tokens, with its certificate. Made when first needed: most labs of a test run sign
/// nothing, and making a key costs more than everything else they do.
final class Signer: Sendable {
    private let made = Mutex<TLSIdentity?>(nil)
    private let key: PrivateKey?
    private let authority: AuthorityKeys
    private let startedAt: Date

    /// - Parameter key: of an earlier run; `nil` makes one on demand.
    init(key: PrivateKey?, authority: AuthorityKeys, now: Date) {
        self.key = key
        self.authority = authority
        startedAt = now
    }

    /// - Throws: `CryptographyError`
    func identity() throws -> TLSIdentity {
        // A second caller waits and gets the same one.
        try made.withLock { made in
            if let made { return made }
            let key = try key ?? authority.rsaKeys.take()
            let template = CertificateTemplate(
                subject: DistinguishedName([
                    (.organization, Authority.organization), (.commonName, "Latchkey Lab signing"),
                ]),
                notBefore: startedAt - Authority.day, notAfter: startedAt + Authority.life)
            let certificate = try template.issue(
                for: key.publicKey, by: authority.certificate, signedWith: authority.authority)
            let identity = TLSIdentity(key: key, chain: [certificate])
            made = identity
            return identity
        }
    }
}

extension TLSIdentity {
    /// A `kid` for the key.
    var keyID: String { String(Hex.encode(key.publicKey.spkiSHA256).prefix(16)) }
}
