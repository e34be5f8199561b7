import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import LocalAPI

@Suite("Relay of the forward proxy", .timeLimit(.minutes(5)))
struct RelayTests {
    @Test("the relay finds the end of a body in one way only, and only fields that are fields (RFC 9112 6)")
    func framing() throws {
        #expect(try RelayFraming.bodyLength(of: [:], version: "HTTP/1.1") == 0)
        #expect(try RelayFraming.bodyLength(of: ["Content-Length": "12"], version: "HTTP/1.0") == 12)
        #expect(try RelayFraming.bodyLength(of: ["Transfer-Encoding": "Chunked"], version: "HTTP/1.1") == nil)
        let refused: [(HTTPHeaders, String)] = [
            (["Content-Length": "1", "Transfer-Encoding": "chunked"], "HTTP/1.1"),
            (["Content-Length": "1", "content-length": "1"], "HTTP/1.1"),
            (["Transfer-Encoding": "chunked"], "HTTP/1.0"), (["Transfer-Encoding": "gzip, chunked"], "HTTP/1.1"),
            (["Content-Length": "+1"], "HTTP/1.1"), (["Content-Length": ""], "HTTP/1.1"), (["A b": "1"], "HTTP/1.1"),
            (["A": "1\u{7F}"], "HTTP/1.1"), (["": "1"], "HTTP/1.1"),
        ]
        for (headers, version) in refused {
            #expect(throws: LocalAPIError.self, "\(headers) \(version)") {
                try RelayFraming.bodyLength(of: headers, version: version)
            }
        }
    }

    @Test(
        "the unit of a process is the outermost that is not a slice (cgroups(7))",
        arguments: [
            ("0::/system.slice/a.service", "a.service"),
            ("2:cpu:/x\n1:name=systemd:/system.slice/system-a.slice/a@1.service/payload", "a@1.service"),
            ("0::/user.slice/user-5.slice/user@5.service/app.slice/a.service", "user@5.service"),
            ("0::/user.slice/user-5.slice/session-1.scope", "session-1.scope"), ("0::/", nil), ("0::/docker/1", nil),
            ("0::/../a.service", nil), ("", nil),
        ] as [(String, String?)])
    func units(text: String, unit: String?) { #expect(PeerUnit.unit(in: text) == unit) }

    @Test("a program that has ended may have been in any unit")
    func endedProgram() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "u-\(UInt32.random(in: 0 ... .max))").path
        let listener = try ListeningSocket(at: path, group: nil)
        let program = "import socket; socket.socket(socket.AF_UNIX).connect('\(path)')"
        #expect(try await OtherProgram.output(of: ["python3", "-c", program]).isEmpty)
        let connection = accept(listener.descriptor, nil, nil)
        defer { close(connection) }
        let peer = try #require(Peer(descriptor: connection, units: ["a.service"]))
        #expect(peer.unit == nil && peer.mayBe(in: "a.service"))
    }

    /// A server with a relay that returns each request's body, and its length as the head states it; at `/unread` it
    /// does not read the body, and at `/deaf` not before more of its answer is read than there is room for.
    private func withRelay(
        stall: Duration = .seconds(60), _ body: (_ api: String, _ relay: String) async throws -> Void
    ) async throws {
        let folder = "/tmp/lk-\(UInt32.random(in: .min ... .max)).relay"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (api, path) = (folder + "/api.sock", folder + "/relay.sock")
        var router = Router()
        router.on(
            "GET", "/v1/hello", needs: .read,
            .init("Hello", answer: .object(["from": .string("who answers")], required: ["from"]))
        ) { _ in
            .json(["from": "the local API"])
        }
        var relay = Relay(socketPath: path, group: nil) { head in
            guard head.target != "/refused" else { throw LocalAPIError.notFound(path: head.target) }
            return { body, writer in
                writer.begin(200, ["X-Length": body.length.map { "\($0)" } ?? "unknown"], length: nil)
                if head.target == "/unread" {
                    _ = await writer.send(Array("not read".utf8))
                    return
                }
                if head.target == "/deaf" {
                    for _ in 0..<2 { _ = await writer.send(Array(repeating: 0, count: 100_000)) }
                }
                var whole: [UInt8] = []
                while let piece = try await body.next() { whole += piece }
                _ = await writer.send(whole)
            }
        }
        relay.limits.stall = stall
        let server = LocalServer(
            socketPath: api, policy: AccessPolicy(owners: [getuid()]), router: router, relay: relay)
        try server.listen()
        let running = Task { try await server.run() }
        try await body(api, path)
        running.cancel()
        _ = try? await running.value
        #expect(access(api, F_OK) != 0 && access(path, F_OK) != 0, "both sockets are removed")
    }

    private func curl(_ socket: String, _ arguments: String...) async throws -> String {
        try await OtherProgram.output(of: ["curl", "-s", "-m", "120", "--unix-socket", socket] + arguments)
    }

    @Test("the relay serves its own socket, and reads bodies to their ends though the answer has begun")
    func both() async throws {
        try await withRelay { api, relay in
            #expect(try await curl(api, "http://localhost/v1/hello").contains("the local API"))
            #expect(try await curl(relay, "-i", "-d", "abc", "http://x/").contains("X-Length: 3"))
            #expect(try await curl(relay, "-d", "abc", "http://x/") == "abc")
            // The routes of one are not those of the other.
            #expect(try await curl(relay, "http://x/v1/hello") == "")
            #expect(try await curl(api, "-o", "/dev/null", "-w", "%{http_code}", "http://x/any") == "404")
            let path = "/tmp/lk-\(UInt32.random(in: .min ... .max)).body"
            defer { unlink(path) }
            let content = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            try content.write(to: URL(filePath: path))
            for option in ["Content-Type: a/b", "Transfer-Encoding: chunked"] {
                _ = try await curl(relay, "-H", option, "-T", path, "-o", path + ".out", "http://x/")
                #expect(try Data(contentsOf: URL(filePath: path + ".out")) == content, "\(option)")
                unlink(path + ".out")
            }
            #expect(try await curl(relay, "-H", "Expect:", "-T", path, "http://x/unread") == "not read")
            let refused = try await curl(
                relay, "-o", "/dev/null", "-w", "%{http_code} %{size_upload}", "-H", "Expect: 100-continue", "-T", path,
                "http://x/refused")
            #expect(refused == "404 0", "a refused body is not asked for")
        }
    }

    @Test("the relay ends a connection on which answer and body wait for each other")
    func deaf() async throws {
        try await withRelay(stall: .milliseconds(100)) { _, relay in
            let path = "/tmp/lk-\(UInt32.random(in: .min ... .max)).body"
            defer { unlink(path) }
            try Data(count: 5_000_000).write(to: URL(filePath: path))
            let end = try await curl(
                relay, "-o", "/dev/null", "-w", "%{exitcode}", "-H", "Expect:", "-T", path, "http://x/deaf")
            #expect(end != "0" && end != "28", "\(end): neither complete nor out of time")
        }
    }

    @Test("a request refused at its head ends the relay's connection, so its body is no other request")
    func smuggled() async throws {
        try await withRelay { _, relay in
            let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
            for method in ["GET", "POST", "DELETE"] {
                let first = "\(method) /refused HTTP/1.1\r\nHost: x\r\nContent-Length: \(second.utf8.count)\r\n\r\n"
                let script = """
                    import socket, sys
                    connection = socket.socket(socket.AF_UNIX)
                    connection.settimeout(120)
                    connection.connect(sys.argv[1])
                    connection.sendall(sys.argv[2].encode())
                    answer = b""
                    while piece := connection.recv(65536):
                        answer += piece
                    print(answer.count(b"HTTP/1.1 "), answer.count(b"HTTP/1.1 404"))
                    """
                let counts = try await OtherProgram.output(of: ["python3", "-c", script, relay, first + second])
                #expect(counts == "1 1\n", "\(method)")
            }
        }
    }
}
