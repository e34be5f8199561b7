import Foundation
import GatewayLab
import TestSupport
import Testing

/// The OpenAPI document that the daemon serves, against what the daemon answers. A checker that shares no code with it
/// judges.
@Suite("The document of the local API", .serialized, .timeLimit(.minutes(15)))
struct DocumentTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func check(
        _ folder: URL, _ document: URL, _ arguments: String...
    ) async throws -> (status: Int32, text: String) {
        let checker = try RunningProgram(
            Self.repository.appending(path: "deploy/check-answers"), [folder.path, document.path] + arguments)
        let status = try await checker.ended(within: 300)
        return (status, checker.output.text + checker.errors.text)
    }

    private static let settings = """
        [storage]
        local = true
        [[inbox]]
        name = "waiting"
        filter = "waiting"
        [[actions]]
        name = "act"
        filter = "act"
        command = ["/bin/true"]
        """

    @Test("every route answers as the OpenAPI document says, and undescribed members and statuses are found")
    func isTrue() async throws {
        let place = URL(filePath: "/tmp/lk-broker-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let broker = try await OtherBroker(in: place)
        defer { broker.program.signal(SIGKILL) }
        let prepared = try TestBoard(
            settings: Self.settings + """

                [location]
                source = "fixed"
                latitude = 1.5
                longitude = 2.5
                [[brokers]]
                name = "plain"
                host = "\(broker.address)"
                tls = false

                """)
        let folder = prepared.folder.appending(path: "answers")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        prepared.environment["LATCHKEY_RECORD_ANSWERS"] = folder.path
        try await withLabAndBoard(board: prepared) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let token = try #require(try await board.ask("token")["accessToken"] as? String)
            try await lab.changeMPinPolicy { $0.activation = .forced }
            let authority = board.folder.appending(path: "ca.pem")
            try lab.caCertificatePEM.write(to: authority, atomically: true, encoding: .utf8)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let asking = try RunningProgram(
                URL(filePath: "/usr/bin/python3"),
                [
                    "-B", Self.repository.appending(path: "Tests/Acceptance/every_route.py").path, board.socket,
                    authority.path,
                    phone.registration.clientID, try await lab.mintToken(for: "alice"),
                ])
            let status = try await asking.ended(within: 400)
            #expect(status == 0, "\(asking.errors.text)")
            let document = board.folder.appending(path: "openapi.json")
            let fetching = try RunningProgram(
                URL(filePath: "/usr/bin/curl"),
                [
                    "-sS", "--unix-socket", board.socket, "http://localhost/v1/openapi.json", "-o", document.path,
                ])
            #expect(try await fetching.ended() == 0, "\(fetching.errors.text)")
            try await board.stop()

            let record = try #require(
                try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).first)
            let text = try String(contentsOf: record, encoding: .utf8)
            #expect(
                !text.contains("alice-password") && !text.contains(token) && !text.contains("sessionID="),
                "the record holds a secret")
            let result = try await check(folder, document)
            print(result.text)
            #expect(result.status == 0, "\(result.text)")

            // What the document does not say has to be found: otherwise the check would prove nothing.
            for (original, broken) in [
                (#""uptime":{"#, #""upTime":{"#),
                (#""depth":{"description":"waiting messages","type":"integer"}"#, #""depth":{"type":"string"}"#),
                (#""latchkey":{"description""#, #""latchkey":{"pattern":"^7","description""#),
                (#""202":{"#, #""201":{"#),
            ] {
                #expect(text.contains(original), "the document has no \(original)")
                try text.replacingOccurrences(of: original, with: broken).write(
                    to: record, atomically: true, encoding: .utf8)
                let found = try await check(folder, document)
                #expect(found.status == 1, "\(broken): \(found.text)")
            }
            try text.write(to: record, atomically: true, encoding: .utf8)
            // Some routes are asked for by other tests; those that nobody asked for are named.
            let rest = try await check(folder, document, "--every")
            #expect(
                rest.status == 1 && rest.text.contains("POST /v1/login/nearby was never answered with success"),
                "\(rest.text)")
            try keep(record)
        }
    }

    /// Gives the record to the check of all answers at the end of `deploy/test`.
    private func keep(_ record: URL) throws {
        guard let all = ProcessInfo.processInfo.environment["LATCHKEY_RECORD_ANSWERS"] else { return }
        try FileManager.default.copyItem(at: record, to: URL(filePath: all).appending(path: record.lastPathComponent))
    }
}
