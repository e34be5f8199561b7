import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("latchkey support-bundle", .timeLimit(.minutes(8)))
struct SupportBundleTests {
    /// What must be in no bundle.
    private static let planted = [
        "hunter2-password", "planted-action-token", "cGxhbnRlZC1wcml2YXRlLWtleQ", "url-user-pw", "5f1c9e-ticket",
        "471108152342",
        "planted-bearer-value", "planted-argument", "planted-name:pw", "planted-word", "planted-psk", "planted-access",
        "pLanted5Path7Token9abcd", "planted-json-element",
        "eyJhbGciOiJub25lIn0", "9b2f44d0c7a1e6835d90b1f27c4e8a63",
    ]

    /// A journal as it would be if every rule about logs had been broken.
    private static let journal = """
        enrolling with https://gw.example/connect/device/config?ticket=5f1c9e-ticket&subjectKeyHash=x
        proxy is http://me:url-user-pw@proxy.example:3128/
        -----BEGIN PRIVATE KEY-----
        cGxhbnRlZC1wcml2YXRlLWtleQ
        -----END PRIVATE KEY-----
        PIN: 471108152342
        Authorization: Bearer planted-bearer-value
        started /bin/door --password planted-word --user planted-name:pw, psk=planted-psk and access_key: planted-access
        posted to https://hooks.example/services/T02/B03/pLanted5Path7Token9abcd
        ran ["/bin/door","--secret","planted-json-element"]
        token eyJhbGciOiJub25lIn0.eyJzdWIiOiJib2FyZCJ9.c2lnbmF0dXJlMQ arrived, as did 9b2f44d0c7a1e6835d90b1f27c4e8a63
        a line that matters
        """

    private func files(
        of board: TestBoard, _ tools: URL
    ) async throws -> (files: [String: String], answer: [String: Any]) {
        let archive = board.folder.appending(path: "bundle-\(UUID()).tar.gz")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await Program(name: "latchkey").run(
            ["support-bundle", "--json", "--socket", board.socket, "--out", archive.path],
            environment: ["LATCHKEY_CONFIG": board.configuration.path, "PATH": "\(tools.path):\(path)"])
        #expect(result.status == 0, "\(result.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: archive.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let folder = board.folder.appending(path: "unpacked-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let unpacked = try await Program.found.run(["tar", "-xzf", archive.path, "-C", folder.path])
        #expect(unpacked.status == 0 && unpacked.errors.isEmpty, "\(unpacked.errors)")
        let inner = folder.appending(path: "latchkey-support")
        let files = try FileManager.default.contentsOfDirectory(atPath: inner.path).reduce(into: [:]) { files, name in
            files[name] = try String(contentsOf: inner.appending(path: name), encoding: .utf8)
        }
        return (files, try result.json)
    }

    @Test("a bundle has what explains the board, and none of its secrets, with a daemon and without")
    func bundle() async throws {
        let settings = """
            [broker]
            password = "hunter2-password"
            [[actions]]
            name = "a"
            filter = "a"
            command = ["/bin/true", "--token=planted-action-token"]
            [[actions]]
            name = "door"
            filter = "door/open"
            command = ["/bin/true", "planted-argument", "-u", "planted-name:pw"]
            [[inbox]]
            name = "orders"
            filter = "orders/#"
            """
        try await withLabAndBoard(settings: settings) { lab, board in
            let tools = board.folder.appending(path: "tools")
            try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: true)
            let journalctl = tools.appending(path: "journalctl")
            try "#!/bin/sh\ncat <<'END'\n\(Self.journal)\nEND\n".write(
                to: journalctl, atomically: true, encoding: .utf8)
            #expect(chmod(journalctl.path, 0o755) == 0)
            let url = try await lab.mintEnrollmentURL()
            let status = try await board.enroll(url)
            let token = try #require(try await board.ask("token")["accessToken"] as? String)
            let key = try Data(contentsOf: board.state.appending(path: "vault.key"))
            let query = try #require(url.split(separator: "?").last.map(String.init))

            var (files, answer) = try await files(of: board, tools)
            #expect((answer["files"] as? [String]).map(Set.init) == Set(files.keys))
            #expect(files["status.json"]?.contains("\"state\":\"registered\"") == true)
            #expect(files["status.json"]?.contains(try #require(status.registration.deviceID)) == true)
            #expect(files["doctor.json"]?.contains("\"checks\"") == true)
            #expect(files["config.json"]?.contains("broker.keep_alive_seconds") == true)
            for ordinary in ["/bin/true", "door/open", "orders/#", "broker.user_name", "telemetry.topic"] {
                #expect(files["config.json"]?.contains(ordinary) == true, "\(ordinary)")
            }
            #expect(files["log.txt"]?.contains("agent") == true)
            #expect(files["journal.txt"]?.contains("a line that matters") == true)
            #expect(files["files.txt"]?.contains("vault.db") == true)
            #expect(files["libraries.txt"]?.contains("libcurl.so.4") == true)
            #expect(files["system.txt"]?.contains("Linux") == true && files["version.json"]?.contains("sqlite") == true)
            try await board.stop()
            let (without, _) = try await self.files(of: board, tools)
            #expect(without["doctor.json"]?.contains("\"daemon\"") == true && without["status.json"] == nil)
            files["without a daemon"] = without.values.joined(separator: "\n")

            let secrets = Self.planted + [token, query, key.base64EncodedString()]
            for (name, text) in files {
                for secret in secrets { #expect(!text.contains(secret), "\(secret) is in \(name)") }
            }
        }
    }
}
