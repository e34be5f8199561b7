import Cryptography
import Foundation
import Groundwork
import HTTPClient
import TestSupport
import Testing

/// With the server of the `openssl` command, which says what it got of the client.
@Suite("A request with a foreign key", .timeLimit(.minutes(5)))
struct ForeignKeyTests {
    private let authority: TestAuthority
    private let client = HTTPClient()

    init() throws { authority = try TestAuthority() }

    /// An `openssl s_server` that demands certificates of clients, for as long as it is referenced.
    private func server(_ options: [String]) async throws -> (program: RunningProgram, port: String) {
        let identity = try authority.localhost()
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, clients) = (folder.appending(path: "server.pem"), folder.appending(path: "clients.pem"))
        try Data((identity.keyPEM + identity.chain[0].pem).utf8).write(to: file)
        try Data(authority.certificate.pem.utf8).write(to: clients)
        let program = try RunningProgram(
            URL(filePath: "/usr/bin/env"),
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", file.path, "-CAfile", clients.path,
                "-Verify", "1", "-verify_return_error",
            ] + options)
        let line = try await program.output.line(containing: "ACCEPT ")
        return (program, String(try #require(line.split(separator: ":").last)))
    }

    private func request(_ port: String, _ key: PrivateKey, _ fault: SoftwareKey.Fault? = nil) throws -> HTTPRequest {
        let identity = try authority.identity("board", usage: .client, key: key)
        return HTTPRequest(
            "GET", "https://localhost:\(port)/",
            trust: ServerTrust(host: "localhost", anchors: [authority.certificate]),
            identity: TLSIdentity(key: try key.elsewhere(fault), chain: identity.chain))
    }

    private static let sides: [(version: String, algorithms: String, key: PrivateKey.Algorithm)] = [
        ("-tls1_2", "RSA+SHA256", .rsa(bits: 2048)), ("-tls1_2", "rsa_pss_rsae_sha256", .rsa(bits: 2048)),
        ("-tls1_2", "ECDSA+SHA256", .p256), ("-tls1_3", "rsa_pss_rsae_sha256", .rsa(bits: 2048)),
        ("-tls1_3", "ECDSA+SHA256", .p256),
    ]

    @Test("a request with a foreign key is answered by openssl s_server", arguments: sides)
    func answered(side: (version: String, algorithms: String, key: PrivateKey.Algorithm)) async throws {
        let (program, port) = try await server([side.version, "-client_sigalgs", side.algorithms])
        defer { program.signal(SIGKILL) }
        let answer = try await client.send(request(port, PrivateKey(generating: side.key)))
        #expect(answer.status == 200)
        let page = String(decoding: answer.body, as: UTF8.self)
        #expect(page.contains("CN=board") || page.contains("CN = board"), "\(page)")
    }

    @Test(
        "a request with a foreign key that does not sign fails, and says what the key said",
        arguments: ["-tls1_2", "-tls1_3"])
    func faults(version: String) async throws {
        let (program, port) = try await server([version])
        defer { program.signal(SIGKILL) }
        let real = try PrivateKey(generating: .p256)
        for (fault, reason, remedy) in [
            (SoftwareKey.Fault.absent, "the token is not there", "put it in"),
            (.garbage, "the signature of the private key is not valid", nil),
            (.nothing, "the signature of the private key is not valid", nil),
        ] {
            let error = HTTPError.handshakeFailed(
                host: "localhost", reason: "cannot sign: \(reason)", remedy: remedy)
            await #expect(throws: error) {
                try await client.send(request(port, real, fault))
            }
        }
        #expect(try await client.send(request(port, real)).status == 200)
    }
}
