import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// Calls of APIs and tokens for them, as a person or a script makes them.
@Suite("Calls of APIs", .serialized, .timeLimit(.minutes(15)))
struct CallTests {
    @Test("calls and tokens are the user's while one is logged in, and the board's with --as board (MAG 6.2)")
    func principal() async throws {
        try await CallBoard.withUser { lab, board in
            #expect(try await CallBoard.call(board, "/lab/hello")["user"] as? String == "alice")
            #expect(try await CallBoard.call(board, "GET", "/lab/hello", "--as", "user")["user"] as? String == "alice")
            #expect(try await CallBoard.call(board, "/lab/hello", "--as", "board")["user"] is NSNull)
            let mine = try await board.ask("token")
            let boards = try await board.ask("token", "--as", "board")
            #expect(mine["as"] as? String == "user" && boards["as"] as? String == "board")
            #expect(mine["accessToken"] as? String != boards["accessToken"] as? String)
            #expect(try await board.ask("call", "/lab/hello")["as"] as? String == "user")

            #expect(try await board.latchkey("logout", "--json").status == 0)
            #expect(try await CallBoard.call(board, "/lab/hello")["user"] is NSNull)
            #expect(try await board.ask("token")["as"] as? String == "board")
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/hello", "--as", "user") == (
                    "gateway.user-required", 120_005, 1
                ))
            #expect(
                try await CallBoard.refusal(board, "token", "--as", "user") == ("gateway.user-required", 120_005, 1))
        }
    }

    @Test("a scope is asked for where the token lacks it; tokens are replaced and ended on request (MAG 5.2, 5.8)")
    func tokens() async throws {
        try await CallBoard.withUser { lab, board in
            let first = try await board.ask("token", "--as", "board")
            #expect(
                try await board.ask("token", "--as", "board")["accessToken"] as? String == first["accessToken"]
                    as? String)
            let second = try await board.ask("token", "--as", "board", "--refresh")
            #expect(second["accessToken"] as? String != first["accessToken"] as? String)
            let users = try await board.ask("token")
            #expect(
                try await board.ask("token", "--refresh")["accessToken"] as? String != users["accessToken"] as? String)
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            #expect(try await board.latchkey("token", "--revoke").status == 0)
            #expect(
                try await board.ask("token", "--as", "board")["accessToken"] as? String != second["accessToken"]
                    as? String)
            let scoped = try await CallBoard.call(board, "/lab/scoped/email", "--as", "board", "--scope", "email")
            #expect((scoped["scopes"] as? [String])?.contains("email") == true)
            let missing = try await CallBoard.refusal(board, "token", "--as", "board", "--scope", "no-such-scope")
            #expect(missing.2 == 76)
        }
    }

    @Test("a called API's own refusal keeps status, headers and body, and says what its number means (MAG 6.3)")
    func refusals() async throws {
        try await CallBoard.withUser { lab, board in
            for number in ["1003107", "1003108", "3003202", "3007991", "3007992", "3007993", "7654321"] {
                for principal in ["board", "user"] {
                    let result = try await Program(name: "latchkey").run([
                        "call", "/lab/refuse/\(number)", "--as", principal, "--json", "--socket", board.socket,
                    ])
                    #expect(result.status == 76, "\(number): \(result.errors)")
                    let answer = try result.json
                    #expect(answer["status"] as? Int == 403, "\(number)")
                    #expect(
                        value(answer, "json", "error_description") as? String == "The API refuses for its own reasons")
                    let names =
                        (answer["headers"] as? [[String: String]])?.compactMap { $0["name"]?.lowercased() } ?? []
                    #expect(names.contains("x-reason") && names.contains("x-ca-err"), "\(number): \(names)")
                    #expect(value(answer, "error", "gateway", "xCaErr") as? Int == Int(number))
                }
            }
            let shown = try await board.latchkey("call", "/lab/refuse/3007993")
            #expect(shown.status == 76 && shown.output.contains("The API refuses for its own reasons"))
            #expect(shown.errors.contains("answered with status 403") && shown.errors.contains("3007993"))
            // The user is still logged in: the API's words are not about the session.
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
        }
    }

    @Test("the body of a call has the type that its caller means, and fields and queries are encoded")
    func bodies() async throws {
        try await CallBoard.withUser { lab, board in
            func echo(_ arguments: String...) async throws -> (type: String?, body: String?, [String: Any]) {
                let result = try await Program(name: "latchkey").run(
                    ["call", "--socket", board.socket, "/lab/echo"] + arguments)
                guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
                let answer = try result.json
                return (value(answer, "headers", "content-type") as? String, answer["body"] as? String, answer)
            }
            var got = try await echo("-d", #"{"n":1}"#)
            #expect(got.type == "application/json" && got.body == #"{"n":1}"#)
            got = try await echo("-d", "a=b", "-d", "c=d")
            #expect(got.type == "application/x-www-form-urlencoded" && got.body == "a=b&c=d")
            got = try await echo("--data-urlencode", "door=red & blue", "--data-urlencode", "n=ä")
            #expect(got.type == "application/x-www-form-urlencoded" && got.body == "door=red%20%26%20blue&n=%C3%A4")
            for (kind, type) in [
                ("text", "text/plain"), ("xml", "application/xml"), ("scim", "application/scim+json"),
                ("json", "application/json"),
            ] {
                got = try await echo("-d", "<a/>", "--type", kind, "--accept", kind)
                #expect(got.type == type && value(got.2, "headers", "accept") as? String == type)
            }
            got = try await echo("-d", "x", "-H", "Content-Type: text/csv", "--query", "a=b c", "--query", "d=&")
            #expect(got.type == "text/csv" && got.2["query"] as? String == "a=b%20c&d=%26")
            let file = board.folder.appending(path: "body.json")
            try "[1,2]".write(to: file, atomically: true, encoding: .utf8)
            #expect(try await echo("-d", "@\(file.path)").body == "[1,2]")

            // An answer that has to be of a type is refused if it is of another, with the protocol's number.
            got = try await echo("-d", "{}", "--expect", "json")
            #expect(value(got.2, "headers", "accept") as? String == "application/json")
            let other = try await CallBoard.refusal(board, "call", "/lab/echo", "-d", "{}", "--expect", "xml")
            #expect(other.0 == "agent.answer-type-unexpected" && other.1 == 100_401)
            let kept = board.folder.appending(path: "answer")
            let saved = try await board.latchkey("call", "/lab/echo", "-d", "{}", "--expect", "xml", "-o", kept.path)
            #expect(saved.status == other.2 && saved.errors.contains("application/json, not application/xml"))
            #expect(!FileManager.default.fileExists(atPath: kept.path))
            // What is no success is shown as it is.
            let missing = try await board.latchkey("call", "/lab/nothing", "--expect", "xml")
            #expect(missing.status == 76 && missing.errors.contains("404"))

            let wrong = try await board.latchkey("call", "POST", "/lab/echo", "-d", "x", "--type", "poem")
            #expect(wrong.status == 64 && wrong.errors.contains("json, form, text, xml, scim"))
            let many = try await board.latchkey("call", "/lab/echo", "-d", "x", "-F", "a=b")
            #expect(many.status == 64)
        }
    }

    /// What the lab's file holds.
    private static func file(_ length: Int) -> Data {
        Data(LabFile.content(to: length))
    }

    @Test("an answer of any size goes to a file, which is there once it is complete")
    func download() async throws {
        let length = 12_000_000
        try await CallBoard.withUser { lab, board in
            let path = board.folder.appending(path: "firmware.bin").path
            let address = "/lab/file/\(length)"
            let broken = try await board.latchkey("call", "\(address)?break-after=5000000", "-o", path)
            #expect(broken.status == 75, "\(broken.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: path + ".part"))

            let whole = try await board.ask("call", address, "-o", path)
            #expect(whole["status"] as? Int == 200 && whole["bytes"] as? Int == length)
            #expect(try Data(contentsOf: URL(filePath: path)) == Self.file(length))
            #expect(!FileManager.default.fileExists(atPath: path + ".part"))

            // A refusal is not the file.
            let refused = try await board.latchkey("call", "/lab/refuse/7654321", "-o", path)
            #expect(refused.status == 76 && refused.output.contains("own reasons"))
            #expect(try Data(contentsOf: URL(filePath: path)) == Self.file(length))
        }
    }

    @Test("files of any size are sent, alone or in a multipart form, and again after a refusal (RFC 7578)")
    func upload() async throws {
        try await CallBoard.withUser { lab, board in
            let content = Self.file(9_000_000)
            let path = board.folder.appending(path: "door.jpg").path
            try content.write(to: URL(filePath: path))
            let hash = sha256(of: content)
            let alone = try await CallBoard.call(board, "/lab/upload", "-T", path)
            #expect(alone["method"] as? String == "PUT" && alone["sha256"] as? String == hash)
            #expect(alone["user"] as? String == "alice")

            // The tokens are gone at the gateway: the call is refused after the body was sent, and made again.
            try await lab.revokeTokens()
            lab.resetCounts()
            let form = try await CallBoard.call(
                board, "/lab/upload", "-F", "title=a red door", "-F", "photo=@\(path);type=image/jpeg;filename=a\"b.jpg"
            )
            #expect(lab.requestCounts[.upload] == 2)
            let parts = try #require(form["parts"] as? [[String: Any]])
            #expect(parts.map { $0["length"] as? Int } == [10, content.count])
            #expect(parts[0]["disposition"] as? String == #"form-data; name="title""#)
            #expect(parts[1]["disposition"] as? String == #"form-data; name="photo"; filename="a%22b.jpg""#)
            #expect(parts[1]["type"] as? String == "image/jpeg" && parts[1]["sha256"] as? String == hash)

            let empty = board.folder.appending(path: "empty").path
            try Data().write(to: URL(filePath: empty))
            #expect(try await CallBoard.call(board, "POST", "/lab/upload", "-T", empty)["length"] as? Int == 0)
            #expect(try await board.latchkey("call", "/lab/upload", "-T", "/nope").status == 65)
        }
    }

    @Test("a call has the time limit that it is given, and ends with the program that made it")
    func limits() async throws {
        try await CallBoard.withUser { lab, board in
            lab.inject(Fault(.delay(milliseconds: 60_000), at: .hello))
            for output in [[], ["-o", board.folder.appending(path: "hello").path]] {
                let result = try await Program(name: "latchkey").run(
                    ["call", "/lab/hello", "--json", "--max-time", "1", "--socket", board.socket] + output)
                #expect(result.status == 75 && result.errors.contains("gateway.no-answer"), "\(result.errors)")
            }
            let log = lab.events.subscribe()
            let waiting = try board.follow("call", "/lab/hello", "-m", "50")
            _ = await log.first { $0.kind == .fault && $0.endpoint == .hello }
            #expect(try await waiting.stop(SIGINT) != 0)
            // The daemon goes on, and the next call is not held up.
            lab.clearFaults()
            #expect(try await CallBoard.call(board, "/lab/hello")["user"] as? String == "alice")
        }
    }
}
