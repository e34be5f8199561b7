import Foundation
import GatewayLab
import TestSupport
import Testing

/// Bodies that are sent as signed tokens. The lab checks them, and so does another implementation of JWS.
@Suite("Signed bodies", .serialized, .timeLimit(.minutes(15)))
struct SigningTests {
    private func send(_ board: TestBoard, _ arguments: String...) async throws -> [String: Any] {
        let result = try await Program(name: "latchkey").run(
            ["call", "/lab/signed", "--sign", "--socket", board.socket] + arguments)
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.output) \(result.errors)") }
        return try result.json
    }

    @Test("a body is signed with RS256 by the device's key, with the claims of MAG 6.7 (MAG checklist 32)")
    func byDevice() async throws {
        try await CallBoard.withUser { lab, board in
            let before = Int(Date().timeIntervalSince1970)
            let got = try await send(
                board, "-d", #"{"n":1}"#, "--claim", "site=harbor", "--claim", #"depth:={"m":3}"#)
            #expect(value(got, "content", "n") as? Int == 1 && got["contentType"] as? String == "application/json")
            #expect(value(got, "header") as? [String: String] == ["alg": "RS256"])
            #expect(got["sentAs"] as? String == "text/plain" && got["signer"] as? String == "device")
            #expect(got["lifetime"] as? Int == 300)

            let device = try #require(await lab.devices().first { $0.magIdentifier != "" && $0.user == nil })
            let claims = try await PyJWT.verified(
                try #require(got["jwt"] as? String), by: PyJWT.pem(Data(device.publicKey).base64EncodedString()),
                for: "localhost")
            #expect(claims["iss"] as? String == "device://\(device.magIdentifier)/\(device.clientID)")
            #expect(claims["sub"] as? String == "alice" && claims["nbf"] == nil)
            #expect(claims["site"] as? String == "harbor" && value(claims, "depth", "m") as? Int == 3)
            let issued = try #require(claims["iat"] as? Int)
            #expect((before - 1...before + 120).contains(issued) && claims["exp"] as? Int == issued + 300)

            let more = try await send(
                board, "-d", #"{"n":1}"#, "--as", "board", "--sign-seconds", "20", "--sign-not-before", "\(before - 5)",
                "--sign-wrap", "json")
            #expect(value(more, "claims", "sub") as? String == device.clientID && more["lifetime"] as? Int == 20)
            #expect(value(more, "claims", "nbf") as? Int == before - 5)
            #expect(more["sentAs"] as? String == "application/json")
            #expect(value(more, "claims", "jti") as? String != claims["jti"] as? String)

            // Tokens that are gone: the call is made again, with another token of its own.
            try await lab.revokeTokens()
            #expect(try await send(board, "-d", "{}", "--sign-wrap", "form")["lifetime"] as? Int == 300)
            let whole = try await board.ask("call", "/lab/signed", "-d", #"{"n":2}"#, "--sign")
            #expect(value(whole, "json", "content", "n") as? Int == 2)
        }
    }

    @Test("the content of a signed body is JSON, text, a form or bytes, as its type says, of any length")
    func contents() async throws {
        try await CallBoard.withUser(settings: "[signing]\nlifetime_seconds = 77") { lab, board in
            let text = try await send(board, "-d", "ä, b", "--type", "text")
            #expect(text["content"] as? String == "ä, b" && text["contentType"] as? String == "text/plain")
            #expect(text["lifetime"] as? Int == 77)
            let form = try await send(
                board, "--data-urlencode", "door=red & blue", "--data-urlencode", "door=ä", "--data-urlencode", "n=1")
            #expect(form["content"] as? [String: [String]] == ["door": ["red & blue", "ä"], "n": ["1"]])
            let file = board.folder.appending(path: "picture")
            try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: file)
            let bytes = try await send(board, "-d", "@\(file.path)", "-H", "Content-Type: image/png")
            #expect(bytes["contentType"] as? String == "image/png")
            let content = try #require(bytes["content"] as? String).replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - content.count % 4) % 4)
            #expect(try Data(base64Encoded: content + padding) == Data(contentsOf: file))

            let path = "/lab/signed"
            #expect(
                try await CallBoard.refusal(board, "call", "POST", path, "--sign") == (
                    "gateway.nothing-to-sign", 170_001, 65
                ))
            for claim in ["content=x", "content-type=x", "exp=x", "aud:=1", "iss:=[]"] {
                #expect(
                    try await CallBoard.refusal(board, "call", path, "-d", "{}", "--sign", "--claim", claim) == (
                        "gateway.claim-not-allowed", 170_002, 65
                    ))
            }
            // A claim of the caller's own is sent in place of the usual one.
            #expect(
                try await board.latchkey("call", path, "-d", "{}", "--sign", "--claim", "iss=somebody").status == 76)
            #expect(
                try await CallBoard.refusal(board, "call", path, "-d", "{", "--type", "json", "--sign") == (
                    "gateway.content-not-signable", 170_003, 65
                ))
            #expect(try await board.latchkey("call", path, "-F", "a=b", "--sign").status == 64)
            #expect(try await board.latchkey("call", path, "-d", "{}", "--claim", "a=b").status == 64)
            // The lab finds what is wrong: another audience, a time to come, the same token twice.
            #expect(try await board.latchkey("call", path, "-d", "{}", "--sign", "--sign-for", "else").status == 76)
            #expect(
                try await board.latchkey("call", path, "-d", "{}", "--sign", "--sign-not-before", "4000000000").status
                    == 76)
            let token = try #require(form["jwt"] as? String)
            let again = try await board.latchkey("call", path, "-d", token, "--type", "text")
            #expect(again.status == 76 && again.output.contains("used before"), "\(again.output)")
            let changed = try await board.latchkey("call", path, "-d", "\(token)A", "--type", "text")
            #expect(changed.status == 76 && changed.output.contains("not valid"), "\(changed.output)")
        }
    }

    @Test("signing keys of the owner's own are stored, used by their names, and never given back")
    func ownKeys() async throws {
        try await CallBoard.withUser { lab, board in
            let made = try await board.ask("keys", "add", "partner")
            let publicKey = try #require(made["publicKey"] as? String)
            #expect(made["algorithm"] as? String == "RS256")
            let url = publicKey.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            let signed = try await board.ask(
                "call", "/lab/signed?key=\(url)&audience=partner", "-d", "{}", "--sign", "--sign-key", "partner",
                "--sign-for", "partner")
            #expect(value(signed, "json", "signer") as? String == "given")
            // By that key, not by the device's.
            #expect(
                try await board.latchkey("call", "/lab/signed", "-d", "{}", "--sign", "--sign-key", "partner").status
                    == 76)

            let elliptic = try await Program.found.run([
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
            ]).output
            let added = try await board.latchkey("keys", "add", "curve", "-", "--json", input: elliptic)
            #expect(added.status == 0, "\(added.errors)")
            let curve = try #require(try added.json["publicKey"] as? String)
            let sent = try await CallBoard.call(
                board, "/lab/echo", "-d", #"{"n":3}"#, "--sign", "--sign-key", "curve")
            let claims = try await PyJWT.verified(
                try #require(sent["body"] as? String), by: PyJWT.pem(curve), algorithm: "ES256", for: "localhost")
            #expect(value(claims, "content", "n") as? Int == 3)

            #expect(try await CallBoard.refusal(board, "keys", "add", "curve").0 == "agent.signing-key-exists")
            let wrong = try await board.latchkey("keys", "add", "other", "-", input: "no key")
            #expect(wrong.status == 64 && wrong.errors.contains("PKCS#8"), "\(wrong.errors)")
            #expect(try await CallBoard.refusal(board, "keys", "add", "A B").0 == "agent.bad-request")
            try await board.stop()
            try await board.start()
            let list = try await board.latchkey("keys")
            #expect(list.output.contains("curve, ES256") && list.output.contains("partner, RS256"))
            #expect(!list.output.contains("PRIVATE"))
            #expect(try await board.latchkey("keys", "remove", "curve", "--json").status == 0)
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/echo", "-d", "{}", "--sign", "--sign-key", "curve").0
                    == "gateway.signing-key-unknown")
            #expect(try await CallBoard.refusal(board, "keys", "remove", "curve").0 == "gateway.signing-key-unknown")
        }
    }
}
