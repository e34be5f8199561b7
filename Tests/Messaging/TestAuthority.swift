import Cryptography
import Foundation
@testable import Messaging

/// A certificate authority of a test's own.
struct TestAuthority {
    let certificate: Certificate
    private let key: PrivateKey

    init(_ name: String = "Test CA") throws {
        key = try PrivateKey(generating: .p256)
        certificate = try Self.template(name, isCA: true).issue(for: key.publicKey, by: nil, signedWith: key)
    }

    func identity(_ name: String, usage: CertificateTemplate.Usage) throws -> TLSIdentity {
        let key = try PrivateKey(generating: .p256)
        var template = Self.template(name, isCA: false)
        template.usage = [usage]
        if usage == .server {
            template.dnsNames = ["localhost"]
            template.ipAddresses = ["127.0.0.1"]
        }
        return TLSIdentity(
            key: key, chain: [try template.issue(for: key.publicKey, by: certificate, signedWith: self.key)])
    }

    private static func template(_ name: String, isCA: Bool) -> CertificateTemplate {
        CertificateTemplate(
            subject: DistinguishedName([(.commonName, name)]), notBefore: Date(timeIntervalSinceNow: -3600),
            notAfter: Date(timeIntervalSinceNow: 3600), isCA: isCA)
    }
}

extension TLSIdentity {
    var keyPEM: String {
        get throws {
            let key = Data(try key.pkcs8().exposed()).base64EncodedString(options: .lineLength64Characters)
            return "-----BEGIN PRIVATE KEY-----\n\(key)\n-----END PRIVATE KEY-----\n"
        }
    }
}

/// A broker behind TLS that demands client certificates, and what a client needs for it.
struct SecureBroker {
    let authority: TestAuthority
    let server: TLSIdentity
    let broker: TestBroker
    let bench: Bench

    /// - Parameter keepsAll: for clients that are sent more than Mosquitto keeps for one of them by default.
    init(host: String = "localhost", keepsAll: Bool = false) async throws {
        authority = try TestAuthority()
        server = try authority.identity("broker", usage: .server)
        bench = try Bench()
        broker = try await TestBroker(.init(lines: [
            "allow_anonymous true", "require_certificate true", keepsAll ? "max_queued_messages 0" : "",
            "cafile \(try bench.write(authority.certificate.pem, to: "ca.pem"))",
            "certfile \(try bench.write(server.chain[0].pem, to: "server.pem"))",
            "keyfile \(try bench.write(server.keyPEM, to: "server.key"))",
        ]), bench: bench, host: host)
    }

    func credentials(_ trust: ServerTrust? = nil, from issuer: TestAuthority? = nil) throws -> BrokerCredentials {
        let identity = try (issuer ?? authority).identity("board", usage: .client)
        let trust = trust ?? ServerTrust(host: broker.address.host, anchors: [authority.certificate])
        return BrokerCredentials(
            clientID: "board", userName: nil, password: nil, tls: try TLSContext(trust: trust, identity: identity))
    }
}
