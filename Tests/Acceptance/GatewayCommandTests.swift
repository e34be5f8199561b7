import Foundation
import GatewayLab
import TestSupport
import Testing

/// `latchkey gateway`: the configuration in use, known gateways, stopping and starting, and the default document.
@Suite("latchkey gateway", .timeLimit(.minutes(15)))
struct GatewayCommandTests {
    private func state(_ board: TestBoard) async throws -> String? {
        value(try await board.ask("status"), "start", "state") as? String
    }

    @Test(
        "a stopped agent sends nothing to gateway or broker, also after a restart, and sends all of it later")
    func stop() async throws {
        try await withLabAndBoard { lab, board in
            #expect(try await state(board) == "not-configured")
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let started = try await board.ask("status")["start"]
            #expect(value(started, "state") as? String == "started" && value(started, "state_ios") as? Int == 3)
            #expect(value(started, "authentication") as? String == "anonymous")
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "version")

            #expect(try await board.latchkey("gateway", "stop").output == "stopped\n")
            _ = try await events.output.line(containing: "gateway.did-stop")
            lab.resetCounts()
            let connections = lab.connections
            #expect(try await board.status().broker?.state == "stopped")
            let published = try await board.latchkey("publish", "door/state", "open")
            #expect(published.status == 0, "\(published.errors)")
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/hello") == ("gateway.stopped", 100_404, 1))
            #expect(try await CallBoard.refusal(board, "token", "--refresh") == ("gateway.stopped", 100_404, 1))
            #expect(try await CallBoard.refusal(board, "renew") == ("gateway.stopped", 100_404, 1))
            try await events.stop()
            for name in ["gateway.will-stop", "gateway.did-stop"] {
                #expect(events.output.lines.filter { $0.contains(name) }.count == 1, "\(name)")
            }

            try await board.stop(SIGKILL)
            try await board.start()
            let restarted = try await board.status { $0.outbox?.depth ?? 0 > 0 }
            #expect(restarted.broker?.state == "stopped")
            #expect(restarted.warnings?.contains { $0.contains("latchkey gateway start") } == true)
            #expect(restarted.lastError == nil)
            #expect(try await state(board) == "stopped")
            let doctor = try await board.latchkey("doctor")
            #expect(doctor.status == 0 && doctor.output.contains("latchkey gateway start"), "\(doctor.output)")
            #expect(await lab.brokerSessions.isEmpty)
            #expect(lab.connections == connections && lab.requestCounts.filter { $0.value > 0 }.isEmpty)

            let again = try board.follow("status", "--follow")
            _ = try await again.output.line(containing: "version")
            #expect(try await board.latchkey("gateway", "start").output == "started\n")
            _ = try await again.output.line(containing: "gateway.did-start")
            _ = try await board.status { $0.isConnected }
            _ = try await board.drained()
            _ = try await again.output.line(containing: "gateway.will-start")
            try await again.stop()
            #expect(lab.messages.contains { $0.topic.hasSuffix("/door/state") })
            #expect(try await board.latchkey("call", "/lab/hello").status == 0)
        }
    }

    @Test("a board goes back to a gateway that it knows without a new URL, and finds its registration")
    func use() async throws {
        let second = try await Lab.start(CallBoard.lab)
        do {
            try await withLabAndBoard(CallBoard.lab) { first, board in
                let original = try await board.enroll(at: first)
                _ = try await board.enroll(at: second)
                let list = try #require(try await board.ask("gateway", "list")["gateways"] as? [[String: Any]])
                #expect(Set(list.compactMap { $0["port"] as? Int }) == [first.port, second.port])
                #expect(list.allSatisfy { $0["registered"] as? Bool == true })
                #expect(list.first { $0["account"] != nil }?["port"] as? Int == second.port)

                #expect(
                    try await CallBoard.refusal(board, "gateway", "use", "localhost")
                        == ("gateway.ambiguous", 100_206, 65))
                #expect(
                    try await CallBoard.refusal(board, "gateway", "use", "elsewhere.example")
                        == ("gateway.unknown", 100_206, 1))
                // What is stopped is started by whoever switches to it.
                #expect(try await board.latchkey("gateway", "stop").status == 0)
                first.resetCounts()
                let used = try await board.latchkey("gateway", "use", "localhost:\(first.port)")
                #expect(used.status == 0 && used.output.contains("switched from"), "\(used.output)\(used.errors)")
                let back = try await board.status()
                #expect(back.registration.magIdentifier == original.registration.magIdentifier)
                #expect(first.requestCounts[.enrollment, default: 0] == 0)
                #expect(first.requestCounts[.clientRegistration, default: 0] == 0)
                #expect(try await state(board) == "started")
                #expect(try await board.latchkey("gateway", "use", second.baseURL).status == 0)
                #expect(try await state(board) == "started")
                #expect(try await board.latchkey("call", "/lab/hello").status == 0)
            }
        } catch {
            await second.stop()
            throw error
        }
        await second.stop()
    }

    @Test("latchkey gateway shows gateway, application, device and endpoints, and calls an endpoint by its name")
    func show() async throws {
        try await withLabAndBoard(CallBoard.lab) { lab, board in
            #expect(try await board.latchkey("gateway").status == 78)
            var document = try await self.document(of: lab)
            document["custom"] = ["greeting_endpoint_path": "/lab/hello", "elsewhere": "https://elsewhere.example/a"]
            let file = board.folder.appending(path: "named.json")
            try JSONSerialization.data(withJSONObject: document).write(to: file)
            _ = try await board.enroll(file.path)
            let shown = try await board.ask("gateway", "show")
            #expect(value(shown, "gateway", "url") as? String == lab.baseURL)
            #expect(value(shown, "application", "organization") as? String == "Latchkey Lab")
            #expect(value(shown, "application", "masterClientID") as? String == MasterClient.agent.clientID)
            #expect(value(shown, "device", "registration", "state") as? String == "registered")
            let endpoints = try #require(shown["endpoints"] as? [[String: Any]])
            #expect(endpoints.contains { $0["name"] as? String == "userinfo_endpoint_path" })
            let text = try await board.latchkey("gateway")
            #expect(text.output.contains("@greeting_endpoint_path") && text.output.contains("Latchkey Lab"))
            // What the status calls the device is its identifier.
            #expect(text.output.contains("device name "), "\(text.output)")

            for name in ["@greeting_endpoint_path", "@greeting", "@greeting?x=1"] {
                let called = try await CallBoard.call(board, name)
                #expect(called["device"] != nil, "\(name): \(called)")
            }
            #expect(
                try await CallBoard.refusal(board, "call", "@elsewhere")
                    == ("gateway.host-not-configured", 100_501, 65))
            #expect(
                try await CallBoard.refusal(board, "call", "@nothing") == ("gateway.endpoint-unknown", 100_204, 65))
            let remedy = try await board.latchkey("call", "@nothing").errors
            #expect(remedy.contains("elsewhere, greeting_endpoint_path"), "\(remedy)")
        }
    }

    /// The configuration document of a lab, to be changed.
    private func document(of lab: Lab, for master: String? = nil) async throws -> [String: Any] {
        let bytes = try await lab.configurationDocument(for: master)
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    // MARK: The default document

    /// A board whose settings name a default document, which does not exist yet.
    private func boardWithDocument(_ settings: String = "") throws -> (board: TestBoard, file: URL) {
        let file = URL(filePath: "/tmp/lk-document-\(UInt32.random(in: .min ... .max)).json")
        let board = try TestBoard(settings: "[gateway]\ndefault_document = \"\(file.path)\"\n\(settings)")
        return (board, file)
    }

    private func write(_ lab: Lab, to file: URL, spaces: Int = 0) async throws {
        var document = Data(try await lab.configurationDocument())
        document.append(contentsOf: Array(repeating: UInt8(ascii: " "), count: spaces))
        try document.write(to: file)
    }

    @Test("a default document registers a board without configuration once, and never replaces another by itself")
    func document() async throws {
        let lab = try await Lab.start(CallBoard.lab)
        let (board, file) = try boardWithDocument()
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            // A missing document stops nothing, and is reported.
            try await board.start()
            let missing = try await board.status()
            #expect(missing.registration.state == "unregistered")
            #expect(missing.lastError?.event == "gateway.default-document-unusable")
            #expect(missing.lastError?.code == "gateway.configuration-missing")
            #expect(missing.warnings?.contains { $0.contains("the default document") } == true)
            let doctor = try await board.latchkey("doctor")
            #expect(doctor.status == 1 && doctor.output.contains("default-document"), "\(doctor.output)")
            #expect(try await board.latchkey("gateway", "use", "--default").status == 78)

            // Killed after the switch is stored, it goes on with it at the next start.
            try await board.stop()
            try await write(lab, to: file)
            board.environment["LATCHKEY_KILL_AT"] = "switch-committed"
            _ = try await board.launch().ended()
            board.environment["LATCHKEY_KILL_AT"] = nil
            try await board.start()
            let registered = try await board.status { $0.registration.state == "registered" }
            #expect(registered.gateway?.url == lab.baseURL)
            #expect(registered.warnings?.contains { $0.contains("the default document") } == false)
            #expect(await lab.devices().count == 1)

            // Removed by a person, it does not come back by itself.
            #expect(try await board.latchkey("deregister", "--yes").status == 0)
            #expect(try await board.latchkey("accounts", "remove", "gateway").status == 0)
            try await board.stop()
            try await board.start()
            #expect(try await state(board) == "not-configured")
            // Unless a person wants it.
            #expect(try await board.latchkey("gateway", "use", "--default").status == 0)
            #expect(try await board.status().registration.state == "registered")
        } catch {
            try? await board.tearDown()
            await lab.stop()
            throw error
        }
        try await board.tearDown()
        await lab.stop()
    }

    @Test("a default document that replaces the active configuration does so once for each content")
    func replaces() async throws {
        let (first, second) = (try await Lab.start(CallBoard.lab), try await Lab.start(CallBoard.lab))
        let (board, file) = try boardWithDocument("default_document_replaces = true\n")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await write(first, to: file)
            try await board.start()
            _ = try await board.status { $0.gateway?.url == first.baseURL && $0.registration.state == "registered" }
            _ = try await board.enroll(at: second)
            try await board.stop()
            try await board.start()
            // The same content: what a person chose since stays.
            #expect(try await board.status().gateway?.url == second.baseURL)
            try await board.stop()
            try await write(first, to: file, spaces: 1)
            try await board.start()
            #expect(try await board.status().gateway?.url == first.baseURL)
            // A document with faults leaves the active configuration alone.
            try await board.stop()
            try Data("{}".utf8).write(to: file)
            try await board.start()
            let kept = try await board.status()
            #expect(kept.gateway?.url == first.baseURL)
            #expect(kept.warnings?.contains { $0.contains("the default document") } == true)
            let check = try await board.latchkey("doctor")
            #expect(check.output.contains("server.hostname is missing"), "\(check.output)")
        } catch {
            try? await board.tearDown()
            await first.stop()
            await second.stop()
            throw error
        }
        try await board.tearDown()
        await first.stop()
        await second.stop()
    }

    // MARK: Scopes

    @Test("a board gets more scopes by enrolling with the document of another client (MAG checklist 7)")
    func scopes() async throws {
        var lab = CallBoard.lab
        let wider = MasterClient(clientID: "wider", scope: MasterClient.defaultScope + " orders")
        lab.masterClients.append(wider)
        try await withLabAndBoard(lab) { lab, board in
            let before = try await board.enroll(at: lab)
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/scoped/orders", "--scope", "orders").2 != 0)
            let file = board.folder.appending(path: "wider.json")
            try Data(try await lab.configurationDocument(for: wider.clientID)).write(to: file)
            let after = try await board.enroll(file.path)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(try await board.latchkey("call", "/lab/scoped/orders", "--scope", "orders").status == 0)
            #expect(await lab.devices().count == 1)
        }
    }
}
