import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// What neither door of protected calls lets through: `POST /v1/call`, and the forward proxy.
@Suite(
    "The doors of protected calls", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "asks as another user"))
struct DoorTests {
    private static let games = 5

    /// Asks the local API as another user, or as root.
    private func ask(_ board: TestBoard, _ body: [String: Any], as uid: Int = games, at path: String = "/v1/call")
        async throws -> Program.Result
    {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let curl = [
            "curl", "-sS", "-m", "120", "-w", "\n%{http_code}", "--unix-socket", board.socket, "--json", text,
            "http://localhost\(path)",
        ]
        return try await Program.found.run(uid == 0 ? curl : ProxyCaller.user(uid) + curl)
    }

    /// A board whose user is alice, and whose API others can reach.
    private func withDoors(
        _ settings: String = "", _ body: (Lab, TestBoard, ProxyCaller) async throws -> Void
    ) async throws {
        try await ProxyTests.withProxy("[programs]\nask_seconds = 600\n" + settings) { lab, board, caller in
            chmod(board.socket, 0o666)
            chmod(board.folder.path, 0o755)
            try await body(lab, board, caller)
        }
    }

    @Test("no program lets a device in by a call, whoever runs it and however it is written")
    func letIn() async throws {
        try await withDoors { lab, board, caller in
            // Whatever a program may call.
            for user in ["games", "root"] {
                let allowed = try await board.latchkey("grants", "allow", "--user", user, "--as", "user")
                #expect(allowed.status == 0, "\(allowed.errors)")
            }
            lab.resetCounts()
            let id = "7b1c"
            for path in [
                "/auth/device/authorization/\(id)", "/AUTH/Device/authorization;x/\(id)",
                "/auth/%64evice/authorization/\(id)", "/auth/qrcode/authorization?sessionID=\(id)",
            ] {
                for uid in [Self.games, 0] {
                    let call: [String: Any] = ["method": "POST", "path": path, "as": "user"]
                    let answer = try await ask(board, call, as: uid)
                    #expect(answer.output.contains("grants.reserved"), "\(path) \(uid): \(answer.output)")
                    let proxied = try await caller.run("-X", "POST", "http://gateway\(path)", as: uid)
                    #expect(proxied.output.contains("grants.reserved"), "\(path) \(uid): \(proxied.output)")
                }
            }
            for path in ["/connect/device/list", "/connect/session/status", "/connect/device/remove"] {
                let answer = try await ask(board, ["method": "GET", "path": path, "as": "user"])
                #expect(answer.output.contains("grants.reserved"), "\(path): \(answer.output)")
            }
            let hello = try await ask(board, ["method": "GET", "path": "/lab/hello", "as": "user"])
            #expect(hello.output.hasSuffix("\n200"), "\(hello.output)")
        }
    }

    @Test("a call names no method and no field that leads elsewhere or speaks for the board, in either spelling")
    func fields() async throws {
        try await withDoors { _, board, _ in
            let call: [String: Any] = ["method": "GET", "path": "/lab/hello"]
            for name in [
                "Host", "X-Original-URL", "x_rewrite_url", "L7-Original-URL", "Authorization", "mag_identifier",
                "Connection", "X-HTTP-Method-Override", "Transfer-Encoding", "Bad Name",
            ] {
                let with = call.merging(["headers": [["name": name, "value": "x"]]]) { $1 }
                let answer = try await ask(board, with, as: 0)
                #expect(
                    answer.output.hasSuffix("\n400") && answer.output.contains("agent.bad-request"),
                    "\(name): \(answer.output)")
            }
            for (uid, status) in [(Self.games, "400"), (0, "200")] {
                let place = call.merging(["headers": [["name": "Geo_Location", "value": "1,1"]]]) { $1 }
                let answer = try await ask(board, place, as: uid)
                #expect(answer.output.hasSuffix("\n\(status)"), "\(uid): \(answer.output)")
            }
            for method in ["TRACE", "connect", "GE T", ""] {
                let answer = try await ask(board, ["method": method, "path": "/lab/hello"], as: 0)
                #expect(answer.output.hasSuffix("\n400"), "\(method): \(answer.output)")
            }
            let refused = try await board.latchkey("call", "-H", "X-Original-URL: /x", "/lab/hello")
            #expect(refused.status == 64 && refused.errors.contains("X-Original-URL"), "\(refused)")
            // A public call speaks for nobody but its program.
            let own = try await board.latchkey("call", "--public", "-H", "Authorization: Basic eDp5", "/lab/open/hello")
            #expect(own.status != 64, "\(own)")
        }
    }

    @Test("a user whose programs are limited by grants cannot say which server is to be trusted")
    func trust() async throws {
        let limits = """
            [[grants]]
            name = "orders"
            user = "games"
            hosts = ["gateway"]
            """
        try await withDoors(limits) { _, board, _ in
            try await board.stop()
            let settings = try String(contentsOf: board.configuration, encoding: .utf8)
            try settings.replacing("[api]\n", with: "[api]\noperate = [\"games\"]\n")
                .write(to: board.configuration, atomically: true, encoding: .utf8)
            try await board.start()
            chmod(board.socket, 0o666)
            let host: [String: Any] = ["host": "api.example", "publicAuthorities": true]
            let refused = try await ask(board, host, at: "/v1/hosts")
            #expect(refused.output.contains("grants.only-owners"), "\(refused.output)")
            let added = try await ask(board, host, as: 0, at: "/v1/hosts")
            #expect(added.output.hasSuffix("\n200"), "\(added.output)")
        }
    }
}
