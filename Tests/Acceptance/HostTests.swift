import Foundation
import GatewayLab
import TestSupport
import Testing

/// Hosts beside the gateway, and gateways with certificates of old.
@Suite("Calls of other hosts", .serialized, .timeLimit(.minutes(15)))
struct HostTests {
    @Test("a named host with a proof is called with credentials, a public one without, a removed one not at all")
    func hosts() async throws {
        let other = try await Lab.start(CallBoard.lab)
        do {
            try await CallBoard.withUser { lab, board in
                let url = "\(other.baseURL)/lab/hello"
                let name = "localhost:\(other.port)"
                let unknown = try await CallBoard.refusal(board, "call", url)
                #expect(unknown == ("gateway.host-not-configured", 100_501, 65))
                #expect(other.connections == 0)
                let remedy = try await board.latchkey("call", url).errors
                #expect(remedy.contains("[[hosts]]") && remedy.contains("latchkey hosts add"))

                #expect(
                    try await CallBoard.refusal(board, "hosts", "add", name) == (
                        "gateway.host-trust-missing", 100_212, 78
                    ))
                #expect(
                    try await CallBoard.refusal(board, "hosts", "add", "a b:1", "--public-authorities")
                        == ("gateway.host-configuration-invalid", 100_211, 78))
                let authority = board.folder.appending(path: "other.pem").path
                try other.caCertificatePEM.write(toFile: authority, atomically: true, encoding: .utf8)
                #expect(
                    try await board.latchkey("hosts", "add", name, "--certificate", authority, "--public").status == 0)
                // A public host gets no token at all. Another one is offered the certificate too, which this one
                // refuses.
                #expect(try await number(board, url) == 3_007_992)
                #expect(try await board.latchkey("hosts", "add", name, "--certificate", authority).status == 0)
                #expect(try await CallBoard.refusal(board, "call", url) == ("gateway.no-answer", 100_406, 75))

                try await board.stop()
                try await board.start()
                let list = try #require(try await board.ask("hosts")["hosts"] as? [[String: Any]])
                #expect(list.map { $0["port"] as? Int } == [other.port] && list[0]["inSettings"] as? Bool == false)
                let wrong = String(repeating: "00", count: 32)
                #expect(try await board.latchkey("hosts", "add", name, "--pin", wrong, "--json").status == 0)
                #expect(try await CallBoard.refusal(board, "call", url) == ("gateway.no-answer", 100_408, 75))
                #expect(try await board.latchkey("hosts", "remove", name, "--json").status == 0)
                #expect(try await CallBoard.refusal(board, "call", url) == unknown)
                #expect(try await CallBoard.refusal(board, "hosts", "remove", name).0 == "gateway.host-unknown")
            }
        } catch {
            await other.stop()
            throw error
        }
        await other.stop()
    }

    /// The number with which the API at an address refuses.
    private func number(_ board: TestBoard, _ address: String) async throws -> Int? {
        let result = try await Program(name: "latchkey").run(["call", address, "--json", "--socket", board.socket])
        guard result.errors.isEmpty else { throw Unexpected(result.errors) }
        let headers = try result.json["headers"] as? [[String: String]]
        return headers?.first { $0["name"]?.lowercased() == "x-ca-err" }?["value"].flatMap { Int($0) }
    }

    @Test("a host of the settings file is called as the file says, and changed only in the file")
    func hostsOfSettings() async throws {
        let other = try await Lab.start(CallBoard.lab)
        do {
            let settings = """
                [[hosts]]
                host = "localhost:\(other.port)"
                pins = ["\(try keyPin(inPEM: other.caCertificatePEM))"]
                public = true
                """
            try await CallBoard.withUser(settings: settings) { lab, board in
                #expect(try await number(board, "\(other.baseURL)/lab/hello") == 3_007_992)
                let name = "localhost:\(other.port)"
                #expect(try await CallBoard.refusal(board, "hosts", "remove", name).0 == "gateway.host-in-settings")
                #expect(
                    try await CallBoard.refusal(board, "hosts", "add", name, "--public-authorities").0
                        == "gateway.host-in-settings")
                let list = try await board.latchkey("hosts").output
                #expect(list.contains("in the settings"))
            }
        } catch {
            await other.stop()
            throw error
        }
        await other.stop()
    }

    @Test(
        "a gateway whose certificate has only a common name is refused, unless the settings allow it",
        arguments: ["strict", "common-name", "off"])
    func commonName(check: String) async throws {
        try await withLabAndBoard(CallBoard.lab, settings: "[gateway]\nname_check = \"\(check)\"") { lab, board in
            try await lab.show(.commonNameOnly)
            let enrolled = try await board.latchkey("enroll", "--json", try await lab.mintEnrollmentURL())
            guard check != "strict" else {
                #expect(enrolled.status == 75 && enrolled.errors.contains("100408"), "\(enrolled.errors)")
                return
            }
            #expect(enrolled.status == 0, "\(enrolled.errors)")
            #expect(try await CallBoard.call(board, "/lab/hello")["message"] != nil)
            // Another name is not accepted where the common name counts.
            try await lab.show(.otherHost)
            #expect(try await board.latchkey("call", "/lab/hello").status == (check == "off" ? 0 : 75))
        }
    }
}
