import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Enrollment", .timeLimit(.minutes(15)))
struct EnrollmentTests {
    /// Tries a URL that must be refused, and checks that the board is as it was before.
    private func expectRefusal(_ url: String, code: String, exit status: Int32, on board: TestBoard) async throws {
        let before = try await board.status()
        let result = try await board.latchkey("enroll", "--json", url)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains("\"code\":\"\(code)\""), "\(result.errors)")
        let after = try await board.status()
        #expect(after.gateway?.scope == before.gateway?.scope)
        #expect(after.registration.magIdentifier == before.registration.magIdentifier)
    }

    @Test("an enrollment URL without the hash of the gateway's key is refused unconnected (MAG checklist 1)")
    func unpinned() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            let connections = lab.connections
            let bare = url.split(separator: "&").filter { !$0.hasPrefix("subjectKeyHash") }.joined(separator: "&")
            try await expectRefusal(bare, code: "gateway.enrollment-url-without-key-hash", exit: 65, on: board)
            #expect(lab.connections == connections)
        }
    }

    @Test("an enrollment URL with another key's hash ends in the TLS handshake (MAG checklist 2)")
    func wronglyPinned() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            let start = try #require(url.range(of: "subjectKeyHash=")).upperBound
            let wrong =
                String(url[..<start])
                + Data(repeating: 7, count: 32).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "%3D")
            try await expectRefusal(wrong, code: "gateway.enrollment-key-mismatch", exit: 76, on: board)
            #expect(lab.requestCounts[.enrollment, default: 0] == 0)
        }
    }

    @Test("an enrollment URL works once, and an enrolled board stays so when it is used again (MAG checklist 46)")
    func reused() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            _ = try await board.enroll(url)
            try await expectRefusal(url, code: "gateway.enrollment-refused", exit: 76, on: board)
        }
    }

    @Test("a board that has just registered takes messages at once, also while it gets no token")
    func messagesAtOnce() async throws {
        try await withLabAndBoard { lab, board in
            lab.inject(Fault(.status(503), at: .token))
            #expect(try await board.enroll(at: lab).registration.state == "registered")
            let published = try await board.latchkey("publish", "door", "open")
            #expect(published.status == 0, "\(published.errors)")
            lab.clearFaults()
            _ = try await board.status { ($0.outbox?.delivered ?? 0) > 0 }
        }
    }

    @Test("an enrollment URL expires with its ticket")
    func expired() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            lab.advanceClock(by: .seconds(601))
            try await expectRefusal(url, code: "gateway.enrollment-refused", exit: 76, on: board)
        }
    }

    @Test("a forged enrollment ticket is refused")
    func forged() async throws {
        try await withLabAndBoard { lab, board in
            let url = try await lab.mintEnrollmentURL()
            let forged = url.replacingOccurrences(of: "sessionData=ey", with: "sessionData=eY")
            #expect(forged != url)
            try await expectRefusal(forged, code: "gateway.enrollment-refused", exit: 76, on: board)
        }
    }

    @Test(
        "an enrollment document with faults names path, fault and fix, and the old one stays active",
        arguments: [
            ("hostname", "server.hostname"), ("client_id", "oauth.client.client_ids[0].client_id"),
            ("organization", "oauth.client.organization"),
        ])
    func faultyConfiguration(key: String, path: String) async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let document = String(decoding: try await lab.configurationDocument(), as: UTF8.self)
            let faulty = document.replacingOccurrences(of: "\"\(key)\"", with: "\"missing-\(key)\"")
            let file = board.folder.appending(path: "faulty.json")
            try faulty.write(to: file, atomically: true, encoding: .utf8)

            let check = try await Program(name: "latchkey").run(["config", "check", file.path])
            #expect(check.status == 78)
            #expect(check.output.contains("\(path) is missing"), "\(check.output)")
            try await expectRefusal(file.path, code: "gateway.configuration-invalid", exit: 78, on: board)
        }
    }

    @Test("an enrollment at a gateway that cannot be reached leaves the board at the one where it is registered")
    func unreachable() async throws {
        try await withLabAndBoard { lab, board in
            let before = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let document = try JSONSerialization.jsonObject(with: Data(try await lab.configurationDocument()))
            var members = try #require(document as? [String: Any])
            var server = try #require(members["server"] as? [String: Any])
            // Nobody listens there.
            server["port"] = 9
            members["server"] = server
            let file = board.folder.appending(path: "elsewhere.json")
            try JSONSerialization.data(withJSONObject: members).write(to: file)
            let refused = try await board.latchkey("enroll", file.path)
            #expect(refused.status != 0 && refused.errors.contains("localhost"), "\(refused)")
            let after = try await board.status { $0.isConnected }
            #expect(after.registration.state == "registered")
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            // A power cut makes no difference.
            try await board.stop(SIGKILL)
            try await board.start()
            #expect(try await board.status { $0.isConnected }.registration.state == "registered")
        }
    }

    @Test("an enrollment document without faults enrolls as a URL does")
    func configurationFile() async throws {
        try await withLabAndBoard { lab, board in
            let file = board.folder.appending(path: "msso_config.json")
            try Data(try await lab.configurationDocument()).write(to: file)
            #expect(try await Program(name: "latchkey").run(["config", "check", file.path]).status == 0)
            let enrolled = try await board.enroll(file.path)
            #expect(enrolled.registration.state == "registered")
            #expect(lab.requestCounts[.enrollment, default: 0] == 0)
        }
    }
}
