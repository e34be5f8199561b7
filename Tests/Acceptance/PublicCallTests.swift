import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Public calls", .timeLimit(.minutes(8)))
struct PublicCallTests {
    /// The lab answers here only who says nothing of itself.
    private static let path = "/lab/icons/timesheet.png"

    @Test("public calls say nothing of who calls, whoever is logged in, whole and in pieces (MAG 6.1)")
    func anonymous() async throws {
        try await CallBoard.withUser { _, board in
            #expect(try await board.latchkey("call", Self.path).status == 76)
            let answer = try await board.ask("call", Self.path, "--public")
            #expect(answer["status"] as? Int == 200 && answer["as"] == nil)
            let picture = board.folder.appending(path: "icon.png")
            #expect(try await board.latchkey("call", Self.path, "--public", "-o", picture.path).status == 0)
            #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            // What is protected stays so: the gateway gets no token that it could take.
            #expect(try await board.latchkey("call", "/lab/hello", "--public").status == 76)
            let sent = try await board.latchkey("call", "/lab/upload", "--public", "-T", picture.path, "--include")
            #expect(sent.status == 76 && sent.output.contains("HTTP 401"), "\(sent)")
            for other in [["--as", "board"], ["--scope", "email"], ["--sign"]] {
                let result = try await Program(name: "latchkey").run(
                    ["call", Self.path, "--public", "--socket", board.socket] + other)
                #expect(result.status == 64)
            }
            let refused = try await Program(url: URL(filePath: "/usr/bin/curl")).run([
                "-sS", "-m", "150", "--unix-socket", board.socket, "http://localhost/v1/call", "--data-binary",
                #"{"method": "GET", "path": "/lab/hello", "public": true, "as": "user"}"#,
            ])
            #expect(value(try refused.json, "error", "code") as? String == "agent.bad-request")
        }
    }

    @Test("public calls need no registration and cause none; other calls of such a board are refused")
    func unregistered() async throws {
        try await withLabAndBoard(CallBoard.lab) { lab, board in
            try await board.enroll("--no-register", try await lab.mintEnrollmentURL())
            #expect(try await board.latchkey("call", Self.path, "--public").status == 0)
            #expect(try await board.latchkey("call", Self.path).status != 0)
            #expect(try await board.status().registration.state == "unregistered")
            #expect(await lab.devices().isEmpty)
        }
    }
}
