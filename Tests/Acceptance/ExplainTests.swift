import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Explaining an error", .timeLimit(.minutes(8)))
struct ExplainTests {
    private func explain(_ arguments: String...) async throws -> Program.Result {
        // Nothing listens there: what is explained needs no daemon.
        let elsewhere = ["LATCHKEY_SOCKET": "/nowhere/api.sock"]
        return try await Program(name: "latchkey").run(["explain"] + arguments, environment: elsewhere)
    }

    private func entries(_ result: Program.Result) throws -> [[String: Any]] {
        try #require(try result.json["entries"] as? [[String: Any]], "\(result.output)")
    }

    @Test("latchkey explain says what a code means, what to do, and which statuses it has")
    func code() async throws {
        let result = try await explain("vault.no-slot-opens")
        #expect(result.status == 0 && result.errors.isEmpty)
        for part in [
            "vault.no-slot-opens  error of this program", "none of the given keys fits",
            "cannot open vault PATH",
            "check that the credential, passphrase or key file", "configuration: ", "exit status  78",
            "HTTP status  500",
        ] { #expect(result.output.contains(part), "\(part) is not in: \(result.output)") }
    }

    @Test("latchkey explain prints the same explanation as JSON")
    func json() async throws {
        let entry = try #require(try entries(try await explain("gateway.no-answer", "--json")).first)
        #expect(entry["name"] as? String == "gateway.no-answer" && entry["category"] as? String == "error")
        #expect(entry["kind"] as? String == "unreachable")
        #expect(entry["exitStatus"] as? Int == 75 && entry["httpStatus"] as? Int == 502)
        #expect(entry["numbers"] as? [Int] == [100_403, 100_405, 100_406, 100_408])
        #expect((entry["messages"] as? [[String: Any]])?.allSatisfy { $0["message"] is String } == true)
    }

    @Test("latchkey explain says what a gateway's number means, whole or by its last three digits")
    func numbers() async throws {
        let whole = try await explain("1000105")
        #expect(whole.status == 0)
        #expect(whole.output.contains("the device is registered already"))
        #expect(whole.output.contains("registration of a device"))
        #expect(whole.output.contains("gateway.device-already-registered") && whole.output.contains("latchkey reset"))
        let suffix = try await explain("990", "--json")
        #expect(try entries(suffix).map { $0["code"] as? String } == ["gateway.token-expired"])
    }

    @Test("latchkey explain says what an event and an error of OAuth mean")
    func others() async throws {
        let event = try await explain("broker.failed")
        #expect(event.status == 0 && event.output.contains("event of this program"))
        #expect(event.output.contains("it is tried again"))
        let standard = try await explain("invalid_grant")
        #expect(standard.status == 0 && standard.output.contains("RFC 6749 section 5.2"))
        // A name that an error and an event have.
        let both = try entries(try await explain("proximity.login-failed", "--json"))
        #expect(both.map { $0["category"] as? String } == ["error", "event"])
    }

    @Test("latchkey explain suggests the nearest code for one that does not exist")
    func unknown() async throws {
        let mistyped = try await explain("vault.no-slot-open")
        #expect(mistyped.status == 65 && mistyped.output.isEmpty)
        #expect(mistyped.errors.contains("no error, event or number vault.no-slot-open"))
        #expect(mistyped.errors.contains("did you mean: vault.no-slot-opens"))
        let strange = try await explain("xyzzy", "--json")
        let error = value(try JSONSerialization.jsonObject(with: Data(strange.errors.utf8)), "error")
        #expect(strange.status == 65 && value(error, "code") as? String == "input.unknown-name")
        #expect(value(error, "kind") as? String == "invalid-input")
        #expect((value(error, "remedy") as? String)?.contains("--list") == true)
        #expect(try await explain().status == 64)
        #expect(try await explain("990", "--list").status == 64)
    }

    @Test("latchkey explain lists every name, and explains each of them")
    func list() async throws {
        let text = try await explain("--list")
        let listed = try entries(try await explain("--list", "--json"))
        #expect(listed.count > 300 && text.status == 0)
        #expect(text.output.split(separator: "\n").count == listed.count)
        for name in ["agent.not-enrolled", "http.timeout", "usage.invalid", "broker.connected", "slow_down", "993"] {
            #expect(listed.contains { $0["name"] as? String == name } && text.output.contains("\(name)  "), "\(name)")
        }
    }

    @Test("latchkey explain explains every error of the daemon, which has a kind and the gateway's numbers")
    func daemon() async throws {
        try await withLabAndBoard { lab, board in
            let before = try await board.latchkey("token", "--json")
            let unenrolled = value(try JSONSerialization.jsonObject(with: Data(before.errors.utf8)), "error")
            #expect(before.status == 78 && value(unenrolled, "kind") as? String == "unconfigured")

            let url = try await lab.mintEnrollmentURL()
            #expect(try await board.latchkey("enroll", "-", input: url + "\n").status == 0)
            let again = try await board.latchkey("enroll", "-", "--json", input: url + "\n")
            let refused = value(try JSONSerialization.jsonObject(with: Data(again.errors.utf8)), "error")
            #expect(again.status == 76 && value(refused, "kind") as? String == "refused")
            #expect(value(refused, "gateway", "xCaErr") as? Int == 132)
            #expect(value(refused, "gateway", "httpStatus") as? Int == 400)
            #expect(value(refused, "gateway", "domain") as? String == "endpoint")

            for error in [unenrolled, refused] {
                let code = try #require(value(error, "code") as? String)
                #expect(try await explain(code).status == 0, "\(code)")
            }
        }
    }
}
