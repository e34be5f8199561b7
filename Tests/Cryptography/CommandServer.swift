import COpenSSL
import Cryptography
import Foundation
import Glibc
import Testing

/// An `openssl s_server` on a port that the kernel chose; ended with the last reference.
final class CommandServer {
    let certificate: Certificate
    private let folder: TemporaryFolder
    private let options: [String]
    private var command: OpenSSLCommand?
    private var port: UInt16 = 0

    /// - Parameter key: what follows `-newkey`.
    init(_ folder: TemporaryFolder, key: [String], options: [String]) throws {
        self.folder = folder
        self.options = options
        let made = try OpenSSLCommand.run(
            ["req", "-x509", "-newkey"] + key + [
                "-nodes", "-keyout", folder.path("key.pem"), "-out",
                folder.path("cert.pem"), "-subj", "/CN=server", "-days", "1", "-addext", "subjectAltName=DNS:localhost",
            ])
        try #require(made.status == 0, "\(made.output)")
        certificate = try Certificate(pem: String(contentsOfFile: folder.path("cert.pem"), encoding: .utf8))
    }

    /// - Parameter client: the certificate that is believed of clients.
    func start(believing client: Certificate?) throws {
        var arguments =
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", folder.path("cert.pem"), "-key",
                folder.path("key.pem"),
            ] + options
        if let client { arguments += ["-CAfile", try folder.write(client.pem, as: "client.pem"), "-partial_chain"] }
        let command = try OpenSSLCommand(arguments)
        self.command = command
        // It says `ACCEPT 127.0.0.1:41234` once it listens.
        var said = ""
        while true {
            let piece = command.read()
            try #require(!piece.isEmpty, "openssl s_server ended: \(said)")
            said += piece
            if let match = said.firstMatch(of: /ACCEPT [^\n]*:(\d+)\n/) {
                port = try #require(UInt16(match.1))
                return
            }
        }
    }

    /// Whether the server answers a request over TLS.
    func answers(_ context: TLSContext) throws -> Bool {
        let descriptor = try connect()
        defer { close(descriptor) }
        let connection = try #require(SSL_new(OpaquePointer(context.handle)))
        defer {
            SSL_free(connection)
            ERR_clear_error()
        }
        try #require(SSL_set_fd(connection, descriptor) == 1)
        guard SSL_connect(connection) == 1 else { return false }
        let request = Array("GET / HTTP/1.0\r\n\r\n".utf8)
        guard SSL_write(connection, request, Int32(request.count)) > 0 else { return false }
        var answer = [UInt8](repeating: 0, count: 64)
        return SSL_read(connection, &answer, Int32(answer.count)) > 0
    }

    private func connect() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0, "connect: \(String(cString: strerror(errno)))")
        return descriptor
    }
}
