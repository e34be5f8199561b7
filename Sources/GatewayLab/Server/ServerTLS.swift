@_spi(KeyBytes) import Cryptography
import HummingbirdTLS
import NIOCore
import NIOSSL

/// The TLS of the gateway's port: a client certificate is requested but not required (MAG checklist 68, MAG quirk
/// Q28); one that is shown must be from the lab's CA.
enum ServerTLS {
    /// An expired certificate is accepted here, so that the protocol can answer with an `x-ca-err` ending in 206 (MAG
    /// checklist 55).
    static func configuration(identity: TLSIdentity, authority: Certificate) throws -> TLSChannelConfiguration {
        let chain = try identity.chain.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
        let key = try NIOSSLPrivateKey(bytes: Array(PEM.privateKey(identity.key.pkcs8().exposed()).utf8), format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority.der, format: .der)])
        return TLSChannelConfiguration(tlsConfiguration: tls) { certificates, verdict in
            verdict.succeed(isIssued(certificates, by: authority) ? .certificateVerified : .failed)
        }
    }

    private static func isIssued(_ certificates: [NIOSSLCertificate], by authority: Certificate) -> Bool {
        guard let der = try? certificates.first?.toDERBytes(), let leaf = try? Certificate(der: der) else {
            return false
        }
        return leaf.isIssued(by: authority)
    }
}
