import Foundation
import GatewayLab
import TestSupport
import Testing

/// Certificates beside the gateway's, with servers of the `openssl` command that ask for one or do not.
@Suite("Certificates for other hosts", .serialized, .timeLimit(.minutes(15)))
struct CertificatesTests {
    /// Files of `openssl` in the board's folder: an authority `ca`, a server's `localhost`, and `NAME.p12` of clients.
    private static func make(_ names: String..., in board: TestBoard, days: Int = 30) async throws {
        let made = try await Program(url: URL(filePath: "/bin/sh")).run(
            [
                "-ec",
                """
                cd "$1"; days=$2; shift 2; exec 2>log
                new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
                test -e ca.pem || $new -x509 -keyout ca.key -out ca.pem -subj /CN=authority
                printf 'subjectAltName=DNS:localhost\\n' >names
                for name in localhost "$@"; do
                    $new -keyout $name.key -out $name.csr -subj /CN=$name
                    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days $days \\
                        -extfile names -out $name.pem
                    openssl pkcs12 -export -inkey $name.key -in $name.pem -certfile ca.pem -name $name \\
                        -passout pass:s3cret-word -out $name.p12
                done
                """, "sh", board.folder.path, "\(days)",
            ] + names)
        guard made.status == 0 else { throw Unexpected("\(made.errors)") }
    }

    /// An `openssl s_server` for as long as it is referenced, which shows what it got of the client.
    private static func server(_ options: String..., in board: TestBoard) async throws -> (RunningProgram, String) {
        func path(_ name: String) -> String { board.folder.appending(path: name).path }
        let program = try RunningProgram(
            URL(filePath: "/usr/bin/env"),
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", path("localhost.pem"), "-key",
                path("localhost.key"), "-CAfile", path("ca.pem"),
            ] + options)
        let line = try await program.output.line(containing: "ACCEPT ")
        return (program, "localhost:" + (line.split(separator: ":").last.map(String.init) ?? ""))
    }

    /// What the server has of the client.
    private static func page(_ board: TestBoard, _ host: String, _ options: String...) async throws -> String? {
        let result = try await Program(name: "latchkey").run(
            ["call", "https://\(host)/", "--socket", board.socket] + options)
        return result.status == 0 ? result.output : nil
    }

    @Test("a host that asks for a certificate is shown the imported one that was named for it, another host none")
    func shown() async throws {
        try await CallBoard.withUser { _, board in
            try await Self.make("partner", "other", in: board)
            let (asking, host) = try await Self.server("-Verify", "2", "-verify_return_error", in: board)
            let (silent, plain) = try await Self.server(in: board)
            defer { for server in [asking, silent] { server.signal(SIGKILL) } }
            let authority = board.folder.appending(path: "ca.pem").path
            for name in [host, plain] {
                _ = try await board.ask("hosts", "add", name, "--certificate", authority, "--public")
            }
            #expect(try await Self.page(board, host) == nil, "nothing to show yet")

            let file = board.folder.appending(path: "partner.p12")
            let imported = try await board.latchkey(
                "certificates", "import", file.path, "--host", host, "--host", plain, "--password-stdin", "--json",
                input: "s3cret-word\n")
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let shown = try #require(try await Self.page(board, host))
            #expect(shown.contains("CN=partner") || shown.contains("CN = partner"), "\(shown)")
            let unasked = try #require(try await Self.page(board, plain))
            #expect(unasked.contains("no client certificate available"), "\(unasked)")
            // Over a restart, and by the route for long answers.
            try await board.stop()
            try await board.start()
            let output = board.folder.appending(path: "page").path
            #expect(try await Self.page(board, host, "--output", output) != nil)
            #expect(try String(contentsOfFile: output, encoding: .utf8).contains("partner"))

            let other = board.folder.appending(path: "other.p12").path
            _ = try await board.latchkey(
                "certificates", "import", other, "--host", host, "--password-stdin", "--keep", input: "s3cret-word\n")
            #expect(FileManager.default.fileExists(atPath: other))
            #expect(try await Self.page(board, host)?.contains("other") == true)
            _ = try await board.ask("certificates", "use", "other")
            #expect(try await Self.page(board, host) == nil)
            _ = try await board.ask("certificates", "use", "partner", "--host", host)
            #expect(try await Self.page(board, host)?.contains("partner") == true)
            _ = try await board.ask("certificates", "remove", "partner", "--yes")
            #expect(try await Self.page(board, host) == nil)
        }
    }

    @Test("an import says apart what is wrong with a file, which stays where it is")
    func refused() async throws {
        try await withLabAndBoard(CallBoard.lab) { _, board in
            try await Self.make("partner", in: board)
            let made = try await Program(url: URL(filePath: "/bin/sh")).run([
                "-ec",
                """
                cd "$1"; exec 2>log
                openssl pkcs12 -export -nokeys -in partner.pem -passout pass:s3cret-word -out none.p12
                cat partner.key localhost.pem >fits-not.p12
                head -c 500 partner.p12 >cut.p12
                """, "sh", board.folder.path,
            ])
            #expect(made.status == 0, "\(made.errors)")
            for (file, password, code, status) in [
                ("partner.p12", "wrong-word", "cryptography.wrong-password", 77),
                ("partner.p12", "", "cryptography.wrong-password", 77),
                ("none.p12", "s3cret-word", "cryptography.no-key", 65),
                ("fits-not.p12", "s3cret-word", "cryptography.no-certificate-fits", 65),
                ("cut.p12", "s3cret-word", "cryptography.malformed", 78),
            ] as [(String, String, String, Int32)] {
                let path = board.folder.appending(path: file).path
                let refused = try await board.latchkey(
                    "certificates", "import", path, "--password-stdin", "--json", input: "\(password)\n")
                #expect(
                    refused.status == status && refused.errors.contains("\"\(code)\""), "\(file): \(refused.errors)")
                #expect(!refused.errors.contains("-word"))
                #expect(FileManager.default.fileExists(atPath: path), "\(file)")
            }
            let list = try await board.ask("certificates")
            #expect((list["certificates"] as? [Any])?.isEmpty == true)
            #expect(try await board.latchkey("certificates").output == "no certificates\n")

            // Standard input has no password, and nothing to remove.
            let pem = try ["partner.key", "partner.pem"].map {
                try String(contentsOf: board.folder.appending(path: $0), encoding: .utf8)
            }.joined()
            let imported = try await board.latchkey("certificates", "import", "-", "--name", "a", input: pem)
            #expect(imported.status == 0 && imported.output.contains("EC P-256"), "\(imported.errors)")
            let again = try await board.latchkey("certificates", "import", "-", "--json", input: pem)
            #expect(again.errors.contains("\"certificates.exists\""), "\(again.errors)")
            let shown = try await board.ask("certificates", "show", "a")
            #expect((shown["chain"] as? [String])?.count == 1 && shown["key"] as? String == "software")
            #expect(
                try await board.latchkey("certificates", "show", "a").output.contains("-----BEGIN CERTIFICATE-----"))
            #expect(try await !board.latchkey("logs").output.contains("-word"))
            let doctor = try await board.ask("doctor")["checks"] as? [[String: Any]]
            let check = doctor?.first { $0["name"] as? String == "certificates" }
            #expect(check?["verdict"] as? String == "pass", "\(check ?? [:])")
        }
    }

    @Test("an import asks three times for a password at a terminal, and not at all if the file has none")
    func prompts() async throws {
        try await withLabAndBoard(CallBoard.lab) { _, board in
            try await Self.make("partner", in: board)
            func start(_ name: String) throws -> TerminalProgram {
                try TerminalProgram(
                    Program(name: "latchkey").url,
                    [
                        "certificates", "import", board.folder.appending(path: name).path, "--keep", "--socket",
                        board.socket,
                    ])
            }
            let wrong = try start("partner.p12")
            for count in 1...3 {
                try await wrong.screen.wait(for: "Password of ", times: count)
                wrong.type("wrong-word\n")
            }
            #expect(try await wrong.ended() == 77)
            #expect(!wrong.screen.text.contains("-word"))
            let right = try start("partner.p12")
            try await right.shows("Password of ")
            right.type("s3cret-word\n")
            #expect(try await right.ended() == 0)
            #expect(right.screen.text.contains("CN=partner"))
            _ = try await board.ask("certificates", "remove", "partner", "--yes")
            let pem = try ["partner.key", "partner.pem"].map {
                try String(contentsOf: board.folder.appending(path: $0), encoding: .utf8)
            }.joined()
            try pem.write(to: board.folder.appending(path: "plain.pem"), atomically: true, encoding: .utf8)
            let plain = try start("plain.pem")
            #expect(try await plain.ended() == 0)
            #expect(!plain.screen.text.contains("Password"))
        }
    }

    @Test("a certificate that ends soon is reported, and the doctor warns of it")
    func endsSoon() async throws {
        try await withLabAndBoard(CallBoard.lab) { _, board in
            try await Self.make("partner", in: board, days: 13)
            let path = board.folder.appending(path: "partner.p12").path
            _ = try await board.latchkey(
                "certificates", "import", path, "--password-stdin", input: "s3cret-word\n")
            let doctor = try await board.ask("doctor")["checks"] as? [[String: Any]]
            let check = doctor?.first { $0["name"] as? String == "certificates" }
            #expect(check?["verdict"] as? String == "warn", "\(check ?? [:])")
            let status = try await board.ask("status")
            #expect((status["certificates"] as? [String: Any])?["count"] as? Int == 1)
        }
    }

    @Test("a certificate that was issued for a requested key is installed and shown")
    func requested() async throws {
        try await CallBoard.withUser { _, board in
            try await Self.make(in: board)
            let (asking, host) = try await Self.server("-Verify", "2", "-verify_return_error", in: board)
            defer { asking.signal(SIGKILL) }
            let authority = board.folder.appending(path: "ca.pem").path
            _ = try await board.ask("hosts", "add", host, "--certificate", authority, "--public")
            let made = try await board.ask(
                "certificates", "request", "made", "--algorithm", "p256", "--common-name", "made here")
            let request = try #require(made["request"] as? String)
            try request.write(to: board.folder.appending(path: "made.csr"), atomically: true, encoding: .utf8)
            let issued = try await Program(url: URL(filePath: "/bin/sh")).run([
                "-ec",
                "cd \"$1\"; openssl x509 -req -in made.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out made.pem",
                "sh", board.folder.path,
            ])
            #expect(issued.status == 0, "\(issued.errors)")
            let other = try await board.latchkey("certificates", "install", "made", authority, "--json")
            #expect(other.errors.contains("\"cryptography.no-certificate-fits\""), "\(other.errors)")
            _ = try await board.ask(
                "certificates", "install", "made", board.folder.appending(path: "made.pem").path)
            _ = try await board.ask("certificates", "use", "made", "--host", host)
            #expect(try await Self.page(board, host)?.contains("made here") == true)
        }
    }
}
