import Cryptography
import Foundation

/// A certificate authority of a test's own.
struct TestAuthority {
    let certificate: Certificate
    private let key: PrivateKey

    init(_ name: String = "Test CA") throws {
        key = try PrivateKey(generating: .p256)
        let template = Self.template(name, isCA: true, from: -3600, until: 3600)
        certificate = try template.issue(for: key.publicKey, by: nil, signedWith: key)
    }

    /// - Parameter from: seconds from now, as `until`.
    func identity(
        _ name: String, dnsNames: [String] = [], usage: CertificateTemplate.Usage = .server, from: TimeInterval = -3600,
        until: TimeInterval = 3600
    ) throws -> TLSIdentity {
        let key = try PrivateKey(generating: .p256)
        var template = Self.template(name, isCA: false, from: from, until: until)
        template.dnsNames = dnsNames
        template.usage = [usage]
        let leaf = try template.issue(for: key.publicKey, by: certificate, signedWith: self.key)
        return TLSIdentity(key: key, chain: [leaf])
    }

    /// The server of most tests: valid for `localhost`.
    func localhost() throws -> TLSIdentity { try identity("localhost", dnsNames: ["localhost"]) }

    private static func template(
        _ name: String, isCA: Bool, from: TimeInterval, until: TimeInterval
    ) -> CertificateTemplate {
        CertificateTemplate(
            subject: DistinguishedName([(.commonName, name)]), notBefore: Date(timeIntervalSinceNow: from),
            notAfter: Date(timeIntervalSinceNow: until), isCA: isCA)
    }
}

extension TLSIdentity {
    var leafPin: PublicKeyPin { PublicKeyPin(of: key.publicKey) }

    fileprivate func pem() throws -> String {
        let key = Data(try key.pkcs8().exposed()).base64EncodedString(options: .lineLength64Characters)
        return "-----BEGIN PRIVATE KEY-----\n\(key)\n-----END PRIVATE KEY-----\n" + chain.map(\.pem).joined(separator: "\n")
    }
}

extension TestServer {
    enum Clients { case unasked, asked, required }

    /// A TLS server. Its files are removed as soon as it has read them.
    convenience init(
        _ identity: TLSIdentity, clients: Clients = .unasked, trusting authority: TestAuthority? = nil
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-http-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "server.pem")
        try Data(identity.pem().utf8).write(to: file)
        var arguments = ["--certificate", file.path]
        if let authority, clients != .unasked {
            let file = directory.appending(path: "clients.pem")
            try Data(authority.certificate.pem.utf8).write(to: file)
            arguments += ["--client-ca", file.path] + (clients == .required ? ["--client-required"] : [])
        }
        try await self.init(arguments)
    }
}
