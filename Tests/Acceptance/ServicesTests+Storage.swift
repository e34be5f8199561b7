import Foundation
import GatewayLab
import TestSupport
import Testing

/// Values that users keep on the board and at the gateway.
extension ServicesTests {
    @Test("values on the board are sealed by segment, with a password if wanted, and outlive a kill")
    func localStorage() async throws {
        try await withAlice { _, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            try await board.ask("storage", "save", #"a-B\9._"#, "seven")
            let saved = try await events.output.line(containing: "items.did-save")
            #expect(saved.contains(#""place":"local""#) && !saved.contains("seven"))
            let result = try await board.latchkey(
                "storage", "save", "secret", "hidden text", "--password", "--segment", "application-user",
                input: "open sesame\n")
            #expect(result.status == 0, "\(result.errors)")
            // A user's values are not the board's, nor another user's.
            #expect(try await refusal(board, "storage", "find", "secret") == Refused("items.not-found", 106, 1))
            let segment = ["--segment", "application-user"]
            #expect(
                try await refusal(board, "storage", "find", "secret", segment[0], segment[1])
                    == Refused("items.password-required", 102, 65))
            #expect(
                try await refusal(
                    board, "storage", "find", "secret", segment[0], segment[1], "--password", input: "close sesame\n")
                    == Refused("items.password-wrong", 102, 77))

            try await board.stop(SIGKILL)
            let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            for file in files {
                let bytes = try? Data(contentsOf: board.state.appending(path: file))
                #expect(bytes?.firstRange(of: Data("hidden text".utf8)) == nil, "\(file)")
            }
            try await board.start()
            let found = try await board.latchkey("storage", "find", #"a-B\9._"#)
            #expect(found.output == "seven")
            #expect(try await board.ask("storage", "find", #"a-B\9._"#)["text"] as? String == "seven")
            let opened = try await board.latchkey(
                "storage", "find", "secret", "--password", "--segment", "application-user", input: "open sesame\n")
            #expect(opened.output == "hidden text", "\(opened.errors)")
            let listed = try await board.ask("storage", "list", "--segment", "application-user")["items"]
            let entry = try #require((listed as? [[String: Any]])?.first)
            #expect(entry["key"] as? String == "secret" && entry["encrypted"] as? Bool == true)

            #expect(
                try await refusal(board, "storage", "save", "a b", "x") == Refused("items.key-invalid", 300_002, 65))
            #expect(try await refusal(board, "storage", "save", "", "x") == Refused("items.key-missing", 300_002, 65))
            #expect(
                try await refusal(board, "storage", "save", "k", "x", "--segment", "user")
                    == Refused("items.segment-invalid", 300_001, 65))
            #expect(try await board.ask("storage", "delete", #"a-B\9._"#)["deleted"] as? Int == 1)
            #expect(try await board.ask("storage", "delete", #"a-B\9._"#)["deleted"] as? Int == 0)
            for key in ["one", "two"] { try await board.ask("storage", "save", key, key) }
            #expect(try await board.ask("storage", "delete", "--all", "--yes")["deleted"] as? Int == 2)
            #expect(try await board.latchkey("logout").status == 0)
            #expect(
                try await refusal(board, "storage", "list", "--segment", "application-user")
                    == Refused("gateway.user-required", 120_005, 1))
        }
    }

    @Test("values are not kept on a board whose settings do not allow it")
    func localStorageDisabled() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(
                try await refusal(board, "storage", "save", "k", "v") == Refused("items.local-disabled", 331_001, 78))
        }
    }

    @Test("values at the gateway that the board has sealed say nothing there, and only it opens them, as they were")
    func sealedStorage() async throws {
        try await withAlice { lab, board in
            try await board.ask("storage", "save", "--cloud", "--sealed", "code", "hidden text", "--type", "text/x")
            let found = try await board.ask("storage", "find", "--cloud", "code", "--sealed")
            #expect(found["text"] as? String == "hidden text" && found["type"] as? String == "text/x")
            #expect(found["sealed"] as? Bool == true)
            let listed = try await board.ask("storage", "list", "--cloud")["items"] as? [[String: Any]]
            #expect(listed?.first?["encrypted"] as? Bool == true)

            // As the gateway has it: a document in a document.
            let path = "/MASS/v1/Client/Data/"
            let stored = try await board.ask("call", path + "code", "--scope", "mas_storage")
            let outer = try #require(Data(base64Encoded: value(stored, "json", "value") as? String ?? ""))
            let document = try #require(try JSONSerialization.jsonObject(with: outer) as? [String: String])
            let text = try #require(Data(base64Encoded: document["value"] ?? ""))
            #expect(text.starts(with: Data("latchkey-sealed-1.".utf8)))
            for bytes in [outer, text] { #expect(bytes.firstRange(of: Data("hidden".utf8)) == nil) }

            // The gateway has it under another key, and changed.
            for (key, bytes) in [("moved", text), ("code", text.dropLast(8) + Data("AAAAAAA=".utf8))] {
                var changed = document
                (changed["key"], changed["value"]) = (key, bytes.base64EncodedString())
                let body = try JSONSerialization.data(withJSONObject: changed)
                _ = try await board.ask(
                    "call", key == "code" ? "PUT" : "POST", path + key, "-d", String(decoding: body, as: UTF8.self),
                    "--scope", "mas_storage")
                #expect(try await refusal(board, "storage", "find", "--cloud", key).code == "items.seal-broken")
            }

            // What others have stored is read as it is, unless that is not wanted.
            try await board.ask("storage", "save", "--cloud", "shared", "for all")
            let shared = try await board.ask("storage", "find", "--cloud", "shared")
            #expect(shared["text"] as? String == "for all" && shared["sealed"] as? Bool == false)
            #expect(
                try await refusal(board, "storage", "find", "--cloud", "shared", "--sealed").code == "items.not-sealed")
            #expect(try await board.latchkey("storage", "save", "k", "v", "--sealed").status == 64)

            try await board.ask("storage", "save", "--cloud", "--sealed", "code", "hidden again")
            let other = try TestBoard(settings: Self.settings)
            try await other.start()
            _ = try await other.enroll(at: lab)
            #expect(try await other.latchkey("storage", "find", "--cloud", "shared").output == "for all")
            #expect(try await refusal(other, "storage", "find", "--cloud", "code").code == "items.sealed-elsewhere")
            try await other.ask("storage", "save", "--cloud", "--sealed", "own", "of the other")
            #expect(try await refusal(other, "storage", "find", "--cloud", "code").code == "items.sealed-elsewhere")
            #expect(try await board.latchkey("storage", "find", "--cloud", "code").output == "hidden again")
            try await other.tearDown()
        }
    }

    @Test("values at the gateway are kept by segment, new and in place of earlier ones")
    func cloudStorage() async throws {
        try await withAlice { lab, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            for segment in ["application", "user", "application-user"] {
                let at = ["--cloud", "--segment", segment]
                func run(_ words: String...) async throws -> Program.Result {
                    try await Program(name: "latchkey").run(words + at + ["--socket", board.socket])
                }
                #expect(try await run("storage", "save", "a/key ü", "first").status == 0, "\(segment)")
                #expect(try await run("storage", "save", "a/key ü", "\(segment) Grüße", "--type", "text/x").status == 0)
                #expect(try await run("storage", "find", "a/key ü").output == "\(segment) Grüße")
                #expect(try await run("storage", "list").output.hasPrefix("a/key ü\ttext/x\t"))
            }
            _ = try await events.output.line(containing: #""place":"cloud""#)
            try await logIn(board, as: "bob")
            let shared = try await board.latchkey("storage", "find", "a/key ü", "--cloud")
            #expect(shared.output == "application Grüße")
            #expect(
                try await refusal(board, "storage", "find", "a/key ü", "--cloud", "--segment", "user")
                    == Refused("items.not-found", 106, 1))
            #expect(try await board.ask("storage", "delete", "a/key ü", "--cloud")["deleted"] as? Int == 1)
            #expect(try await board.ask("storage", "delete", "a/key ü", "--cloud")["deleted"] as? Int == 0)
            #expect(try await board.latchkey("logout").status == 0)
            // The board's own token reaches the application's values, and nobody else's.
            #expect(try await board.latchkey("storage", "save", "k", "v", "--cloud").status == 0)
            #expect(
                try await refusal(board, "storage", "find", "k", "--cloud", "--segment", "user")
                    == Refused("gateway.user-required", 120_005, 1))
        }
    }
}
