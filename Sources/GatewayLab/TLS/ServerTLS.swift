@_spi(KeyBytes) import Cryptography

/// The TLS of the gateway's port: a client certificate is requested but not required (MAG checklist 68, MAG quirk
/// Q28); one that is shown must be from the lab's CA.
enum ServerTLS {
    /// An expired certificate is accepted here, so that the protocol can answer with an `x-ca-err` ending in 206 (MAG
    /// checklist 55).
    /// - Throws: `LabError.cryptography`, or `CryptographyError`
    static func credentials(identity: TLSIdentity, authority: Certificate) throws -> TLSCredentials {
        try TLSCredentials(
            chain: identity.chain.map(\.pem).joined(), key: PEM.privateKey(identity.key.pkcs8().exposed()),
            acceptsClient: { der in
                guard let leaf = try? Certificate(der: der) else { return false }
                return leaf.isIssued(by: authority)
            })
    }
}
