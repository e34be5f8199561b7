import Cryptography
import Foundation
import TestSupport

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
        let pem = try identity.keyPEM + identity.chain.map(\.pem).joined(separator: "\n")
        try Data(pem.utf8).write(to: file)
        var arguments = ["--certificate", file.path]
        if let authority, clients != .unasked {
            let file = directory.appending(path: "clients.pem")
            try Data(authority.certificate.pem.utf8).write(to: file)
            arguments += ["--client-ca", file.path] + (clients == .required ? ["--client-required"] : [])
        }
        try await self.init(arguments)
    }
}
