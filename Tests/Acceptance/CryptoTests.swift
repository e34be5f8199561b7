import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// Keys and credentials of programs, as the commands and the local API of a running daemon have them.
@Suite("Keys and credentials of programs", .timeLimit(.minutes(15)))
struct CryptoTests {
    /// A user of Debian's who may only read.
    private static let guest = "games"

    private func withBoard(_ settings: String = "", _ body: (TestBoard) async throws -> Void) async throws {
        let board = try TestBoard(settings: settings)
        chmod(board.folder.path, 0o755)
        try await withLabAndBoard(board: board) { _, board in try await body(board) }
    }

    private func write(_ text: String, as name: String, of board: TestBoard) throws -> String {
        let file = board.folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    /// A board whose guest has a right.
    private func withGuest(who right: String, _ body: (TestBoard) async throws -> Void) async throws {
        let settings = "[api]\ngroup = \"nogroup\"\n\(right) = [\"\(Self.guest)\"]\n"
        let board = try TestBoard()
        try String(contentsOf: board.configuration, encoding: .utf8).replacing("[api]\n", with: settings)
            .write(to: board.configuration, atomically: true, encoding: .utf8)
        chmod(board.folder.path, 0o755)
        try await withLabAndBoard(board: board) { _, board in try await body(board) }
    }

    /// A request of the guest's. - Returns: the answer, and its status in a line of its own.
    private func ask(_ board: TestBoard, _ target: String, posting body: String? = nil) async throws -> String {
        let words = body.map { ["-H", "Content-Type: application/json", "--data-binary", $0] } ?? []
        let curl = try RunningProgram(
            URL(filePath: "/usr/bin/setpriv"),
            [
                "--reuid=\(Self.guest)", "--regid=nogroup", "--clear-groups", "curl", "-sS", "-m", "60", "-w",
                "\n%{http_code}", "--unix-socket", board.socket, "http://localhost\(target)",
            ] + words)
        #expect(try await curl.ended() == 0)
        return curl.output.text
    }

    @Test("programs encrypt with a key that stays inside, across a restart, and not after its removal")
    func encrypt() async throws {
        try await withBoard { board in
            try await board.ask("crypto", "keys", "add", "photos")
            let plan = try write("a plan\n", as: "plan", of: board)
            let sealed = board.folder.appending(path: "sealed").path
            try await board.ask("crypto", "encrypt", "photos", "--in", plan, "--out", sealed)
            let bytes = try #require(Base64.decode(try String(contentsOfFile: sealed, encoding: .utf8)))
            #expect(Array(bytes.prefix(4)) == Array("LKE1".utf8))
            #expect(bytes.count == "a plan\n".utf8.count + 48)
            try await board.stop()
            try await board.start()
            #expect(try await board.ask("crypto", "decrypt", "photos", "--in", sealed)["text"] as? String == "a plan\n")
            #expect(try await board.latchkey("crypto", "decrypt", "photos", "--in", sealed).output == "a plan\n")
            let figures = try await board.latchkey("metrics").output
            #expect(figures.contains(#"latchkey_crypto_operations_total{operation="decrypt"} 2"#), "\(figures)")
            try await board.ask("crypto", "keys", "remove", "photos", "--yes")
            let removed = try await board.latchkey("crypto", "keys", "remove", "photos", "--yes")
            #expect(removed.status == 1 && removed.errors.contains("there is no photos"))
            #expect(try await board.latchkey("crypto", "decrypt", "photos", "--in", sealed).status == 1)
        }
    }

    @Test("the openssl command verifies what a key pair signs, and wraps what it unwraps")
    func pairs() async throws {
        try await withBoard { board in
            try await board.ask("crypto", "keys", "add", "orders", "--kind", "rsa-2048")
            let listed = try await board.ask("crypto", "keys", "list")["keys"] as? [[String: Any]]
            #expect(listed?.first?["kind"] as? String == "rsa-2048")
            let text = try write("an order", as: "order", of: board)
            let pem = try await board.latchkey("crypto", "public", "orders").output
            try await board.ask("crypto", "public", "orders")
            let key = try write(pem, as: "public.pem", of: board)
            let signed = try await board.ask("crypto", "sign", "orders", "--algorithm", "PS256", "--in", text)
            let signature = try #require(signed["signature"] as? String)
            let file = board.folder.appending(path: "signature")
            try Data(try #require(Base64.decode(signature))).write(to: file)
            let openssl = Program(url: URL(filePath: "/usr/bin/openssl"))
            let verified = try await openssl.run([
                "dgst", "-sha256", "-verify", key, "-signature", file.path, "-sigopt", "rsa_padding_mode:pss",
                "-sigopt", "rsa_pss_saltlen:32", text,
            ])
            #expect(verified.output.contains("Verified OK"), "\(verified.errors)")
            let stored = try write(signature, as: "signature.txt", of: board)
            try await board.ask("crypto", "check", "orders", stored, "--algorithm", "PS256", "--in", text)
            let other = try await board.latchkey("crypto", "check", "orders", stored, "--in", text)
            #expect(other.status == 1 && other.output == "not valid\n")

            let wrapped = board.folder.appending(path: "wrapped")
            let made = try await openssl.run([
                "pkeyutl", "-encrypt", "-pubin", "-inkey", key, "-in", text, "-out", wrapped.path, "-pkeyopt",
                "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256",
            ])
            #expect(made.status == 0, "\(made.errors)")
            let theirs = try write(
                Base64.encode(try Data(contentsOf: wrapped)), as: "wrapped.txt", of: board)
            #expect(try await board.ask("crypto", "unwrap", "orders", "--in", theirs)["text"] as? String == "an order")
            try await board.ask("crypto", "wrap", "orders", "--in", text)
        }
    }

    @Test("digests and cipher texts of Oracle's SDK are read and written, and old ones only where the settings allow")
    func formats() async throws {
        try await withBoard("[crypto]\nlegacy = true\n") { board in
            let password = try write("mypassword", as: "password", of: board)
            let salt = try write("A1B2C3", as: "salt", of: board)
            let hashed = try await board.ask(
                "crypto", "hash", "--algorithm", "SaltedSHA-256", "--salt", salt, "--in", password)
            let expected = "{SaltedSHA-256}+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM="
            #expect(hashed["digest"] as? String == expected)
            let stored = try write(expected, as: "stored", of: board)
            try await board.ask("crypto", "verify", stored, "--in", password)
            #expect(try await board.latchkey("crypto", "verify", stored, "--in", salt).status == 1)
            let md5 = try write("{MD5}NIGde+6ruSYKXIVLyFs+RA==", as: "md5", of: board)
            let refused = try await board.latchkey("crypto", "verify", md5, "--in", password)
            #expect(refused.errors.contains("the algorithm or mode is weak"), "\(refused.errors)")
            try await board.ask("crypto", "verify", md5, "--legacy", "--in", password)

            let secret = try write("0123456789abcdef", as: "secret", of: board)
            let options = ["--algorithm", "AES", "--secret", secret, "--vector", "000102030405060708090a0b0c0d0e0f"]
            let sealed = board.folder.appending(path: "sealed").path
            let encrypted = try await Program.shipped.run(
                ["crypto", "encrypt", "--in", password, "--out", sealed, "--socket", board.socket] + options)
            #expect(encrypted.status == 0, "\(encrypted.errors)")
            let opened = try await Program.shipped.run(
                ["crypto", "decrypt", "--in", sealed, "--socket", board.socket] + options)
            #expect(opened.output == "mypassword", "\(opened.errors)")
        }
        try await withBoard { board in
            let md5 = try write("{MD5}NIGde+6ruSYKXIVLyFs+RA==", as: "md5", of: board)
            let refused = try await board.latchkey("crypto", "verify", md5, "--legacy", "--in", md5)
            #expect(refused.errors.contains("weak algorithms are turned off"), "\(refused.errors)")
        }
    }

    @Test("credentials are added, read, updated, listed and emptied by commands (checklist 174)")
    func credentials() async throws {
        try await withBoard { board in
            func run(_ words: String..., input: String) async throws {
                let result = try await Program.shipped.run(
                    ["credentials"] + words + ["--json", "--socket", board.socket], input: input)
                #expect(result.status == 0, "\(result.errors)")
            }
            try await run("add", "mail", "--user", "alice", "--tenant", "plant", input: "secret\n")
            let again = try await board.latchkey("credentials", "add", "mail", input: "secret\n")
            #expect(again.status == 1 && again.errors.contains("mail exists already"))
            try await run("update", "mail", "--user", "bob", "--level", "Always", input: "other\n")
            try await run("set-property", "mail", "server", "--label", "Server", input: "mail.example\n")
            #expect(try await board.latchkey("credentials", "get", "mail").output == "other")
            let read = try await board.ask("credentials", "get", "mail")
            #expect(read["user"] as? String == "bob" && read["tenant"] == nil)
            #expect(read["level"] as? String == "KeychainDataAccessibleAlways")
            let property = try #require((read["properties"] as? [[String: Any]])?.first)
            #expect(property["value"] as? String == "mail.example" && property["label"] as? String == "Server")
            let list = try #require(try await board.ask("credentials", "list")["credentials"] as? [[String: Any]])
            #expect(list.first?["key"] as? String == "mail" && list.first?["value"] == nil)
            let unknown = try await board.latchkey("credentials", "add", "a", "--level", "Never", input: "secret\n")
            #expect(unknown.errors.contains("the level of protection is not known"), "\(unknown.errors)")
            try await board.ask("credentials", "remove-property", "mail", "server")
            try await board.ask("credentials", "delete", "mail")
            #expect(try await board.ask("credentials", "get", "mail")["value"] == nil)
            try await board.ask("credentials", "delete", "mail", "--forget")
            #expect(try await board.latchkey("credentials", "get", "mail").status == 1)
        }
    }

    @Test(
        "a program without the right to operate has its own user's keys by a grant, and another's only by name",
        .enabled(if: getuid() == 0, "asks as another user"))
    func grants() async throws {
        try await withGuest(who: "read") { board in
            func ask(_ target: String, posting body: String? = nil) async throws -> String {
                try await self.ask(board, target, posting: body)
            }
            try await board.ask("crypto", "keys", "add", "photos")
            #expect(try await ask("/v1/crypto/keys").hasSuffix("\n403"))
            let granted = try await board.ask("grants", "allow", "--user", Self.guest, "--store")
            // Calls in the name of the board are another right.
            #expect((granted["accounts"] as? [String])?.isEmpty == true)
            let none = try await ask("/v1/crypto/keys")
            #expect(none.contains("\"keys\":[]") && none.hasSuffix("\n200"), "\(none)")
            #expect(try await ask("/v1/crypto/keys", posting: #"{"name":"photos"}"#).hasSuffix("200"))
            #expect(try await ask("/v1/crypto/keys?uid=0").hasSuffix("\n403"))
            #expect(
                try await ask("/v1/credentials", posting: #"{"key":"a","value":"b","uid":0}"#).hasSuffix("\n403"))
            try await board.ask("grants", "allow", "--user", Self.guest, "--store-of", "0")
            #expect(try await ask("/v1/crypto/keys?uid=0").contains("photos"))
            let log = try await board.latchkey("grants", "log", "--json").output
            #expect(log.contains(#""storeOf":0"#) && log.contains("refused"), "\(log)")
        }
    }

    @Test(
        "a user who may operate has keys of his own, and cannot let himself use another's",
        .enabled(if: getuid() == 0, "asks as another user"))
    func operators() async throws {
        try await withGuest(who: "operate") { board in
            try await board.ask("crypto", "keys", "add", "photos")
            let none = try await ask(board, "/v1/crypto/keys")
            #expect(none.contains("\"keys\":[]") && none.hasSuffix("\n200"), "\(none)")
            #expect(try await ask(board, "/v1/crypto/keys?uid=0").hasSuffix("\n403"))
            let granted = try await ask(board, "/v1/grants", posting: #"{"uid":5,"storeOf":[0]}"#)
            #expect(granted.contains("grants.store-of-owners") && granted.hasSuffix("\n403"), "\(granted)")
        }
    }
}
