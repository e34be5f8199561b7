import Foundation
import GatewayLab
import TestSupport
import Testing

/// `latchkey sign`: the same tokens as those of signed bodies, for programs that send them themselves. Another
/// implementation of JWS verifies them.
@Suite("Signed tokens", .serialized, .timeLimit(.minutes(15)))
struct SignTests {
    private func sign(_ board: TestBoard, _ arguments: String..., input: String? = nil) async throws -> String {
        let result = try await Program(name: "latchkey").run(
            ["sign", "--socket", board.socket] + arguments, input: input ?? "")
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
        #expect(result.output.hasSuffix("\n") && result.output.split(separator: ".").count == 3)
        return String(result.output.dropLast())
    }

    private func added(_ board: TestBoard, _ name: String) async throws -> String {
        let key = try await board.ask("keys", "add", name)
        return PyJWT.pem(try #require(key["publicKey"] as? String))
    }

    @Test("a signed token has the claims of a signed body, and is verified by another implementation (MAG 6.7)")
    func usual() async throws {
        try await CallBoard.withUser(settings: "[signing]\nlifetime_seconds = 77") { lab, board in
            let partner = try await added(board, "partner")
            let before = Int(Date().timeIntervalSince1970)
            let token = try await sign(board, #"{"n":1}"#, "--key", "partner", "--claim", "site=harbor")
            let claims = try await PyJWT.verified(token, by: partner, for: "localhost")
            let device = try #require(await lab.devices().first { $0.magIdentifier != "" && $0.user == nil })
            #expect(claims["iss"] as? String == "device://\(device.magIdentifier)/\(device.clientID)")
            #expect(claims["sub"] as? String == "alice" && claims["site"] as? String == "harbor")
            #expect(
                value(claims, "content", "n") as? Int == 1 && claims["content-type"] as? String == "application/json")
            let issued = try #require(claims["iat"] as? Int)
            #expect((before - 1...before + 120).contains(issued) && claims["exp"] as? Int == issued + 77)

            // By the device's own key, and text from standard input and from a file.
            let own = PyJWT.pem(Data(device.publicKey).base64EncodedString())
            let text = try await PyJWT.verified(
                try await sign(board, "-", "--as", "board", "--lifetime", "20", input: "ä, b"), by: own,
                for: "localhost")
            #expect(text["content"] as? String == "ä, b" && text["sub"] as? String == device.clientID)
            #expect(text["exp"] as? Int == (text["iat"] as? Int).map { $0 + 20 })
            let file = board.folder.appending(path: "order.json")
            try Data("[1]".utf8).write(to: file)
            let order = try await PyJWT.verified(
                try await sign(board, "@\(file.path)", "--audience", "https://a.example/orders"), by: own,
                for: "https://a.example/orders")
            #expect(order["content"] as? [Int] == [1] && order["aud"] as? String == "https://a.example/orders")

            // It is the token that a call would send, and an API takes it from whoever has it.
            let sent = try await board.ask(
                "call", "/lab/signed", "-d", try await sign(board, #"{"n":2}"#), "--type", "text")
            #expect(value(sent, "json", "content", "n") as? Int == 2)
            let json = try await board.ask("sign", "7")
            #expect(json.keys.sorted() == ["token"])
        }
    }

    @Test("every claim of a signed token may be the caller's, none is made twice, and a payload may be missing")
    func claims() async throws {
        try await CallBoard.withUser { _, board in
            let partner = try await added(board, "partner")
            let now = Int(Date().timeIntervalSince1970)
            let token = try await sign(
                board, "--key", "partner", "--claim", "iss=board-7", "--claim", "sub=7", "--claim",
                "aud:=[\"a\",\"b\"]",
                "--claim", "exp=\(now + 900)", "--claim", "iat=\(now - 5)", "--claim", "nbf=\(now - 6)", "--claim",
                "jti=once")
            let claims = try await PyJWT.verified(token, by: partner, for: "b")
            #expect(claims.keys.sorted() == ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"])
            #expect(claims["iss"] as? String == "board-7" && claims["sub"] as? String == "7")
            #expect(claims["aud"] as? [String] == ["a", "b"] && claims["jti"] as? String == "once")
            #expect(
                claims["exp"] as? Int == now + 900 && claims["iat"] as? Int == now - 5
                    && claims["nbf"] as? Int == now - 6)
            let later = try await PyJWT.verified(
                try await sign(board, "--key", "partner", "--claim", "iat=\(now - 50)"), by: partner, for: "localhost")
            #expect(later["exp"] as? Int == now + 250)

            for arguments in [
                ["--claim", "aud=a", "--audience", "a"], ["--claim", "exp=4000000000", "--lifetime", "9"],
                ["--claim", "nbf=1", "--not-before", "1"], ["{}", "--claim", "content=a"],
            ] {
                let result = try await Program(name: "latchkey").run(
                    ["sign", "--json", "--socket", board.socket] + arguments)
                #expect(result.status == 65 && result.errors.contains("gateway.claim-not-allowed"), "\(result.errors)")
            }
            #expect(try await board.latchkey("sign", "--claim", "a=1", "--claim", "a=2").status == 64)
            #expect(try await board.latchkey("sign", "--type", "json").status == 64)
            #expect(
                try await CallBoard.refusal(board, "sign", "{", "--type", "json").0 == "gateway.content-not-signable")
            #expect(try await CallBoard.refusal(board, "sign", "--key", "other").0 == "gateway.signing-key-unknown")
            #expect(try await board.latchkey("lock", input: "2580\n").status == 0)
            #expect(try await board.latchkey("sign", "a").status != 0)
            #expect(try await board.latchkey("sign", "a", "--as", "board").status == 0)
        }
    }

    @Test("keys of PKCS#12 files sign, and another password or no key in it are errors of their own")
    func keyFiles() async throws {
        try await CallBoard.withUser { _, board in
            let made = try await Program(url: URL(filePath: "/bin/sh")).run([
                "-ec",
                """
                cd "$1"
                openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=partner -out certificate.pem
                openssl pkcs12 -export -inkey key.pem -in certificate.pem -passout pass:s3cret-word -out key.p12
                openssl pkcs12 -export -nokeys -in certificate.pem -passout pass:s3cret-word -out none.p12
                """, "sh", board.folder.path,
            ])
            #expect(made.status == 0, "\(made.errors)")
            func add(_ file: String, _ password: String) async throws -> Program.Result {
                try await board.latchkey(
                    "keys", "add", "file", "--pkcs12", board.folder.appending(path: file).path, "--password-stdin",
                    "--json", input: "\(password)\n")
            }
            for (file, password, code, status) in [
                ("key.p12", "wrong-word", "cryptography.wrong-password", 77),
                ("none.p12", "s3cret-word", "cryptography.no-key", 65),
                ("certificate.pem", "s3cret-word", "agent.bad-request", 64),
            ] as [(String, String, String, Int32)] {
                let refused = try await add(file, password)
                #expect(refused.status == status && refused.errors.contains(code), "\(file): \(refused.errors)")
                #expect(!refused.errors.contains("-word"))
            }
            let added = try await add("key.p12", "s3cret-word")
            #expect(added.status == 0, "\(added.errors)")
            let token = try await sign(board, "a", "--key", "file")
            let key = PyJWT.pem(try #require(try added.json["publicKey"] as? String))
            #expect(try await PyJWT.verified(token, by: key, for: "localhost")["content"] as? String == "a")
            #expect(try await !board.latchkey("logs").output.contains("-word"))
            #expect(try await board.latchkey("keys", "add", "b", "--password-stdin").status == 64)
            #expect(try await board.latchkey("keys", "add", "b", "c.pem", "--pkcs12", "d.p12").status == 64)
        }
    }
}
