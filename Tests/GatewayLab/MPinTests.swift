import Foundation
import GatewayLab
import Groundwork
import Testing

/// The M-Pin back end, asked by a client in Python that shares nothing with the project, not even a library.
///
/// Outside ``GatewayLabTests``, as Python's integers take their time for a pairing.
@Suite("M-Pin back end", .serialized, .timeLimit(.minutes(15)))
struct MPinTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("mpin_scenarios.py").path

    private static let scenarios: [(name: String, sentence: String)] = [
        ("registration", "registers users by mail, by link, by code and by force, and gives each secret once"),
        (
            "log_in",
            "takes the right PIN alone, as the pairing does, counts failures and blocks (MPIN checklist 35, 36)"
        ),
        ("permits", "takes the permits of the day, from D-TA and storage, and none of who is revoked"),
        ("password", "gives one-time passwords, codes and every verdict, each in its time"),
        ("numbers", "logs browsers in by access numbers and QR codes, and out again"),
        ("lies", "answers wrongly if asked to"),
        ("forms", "refuses every request that is not exactly of the protocol's form (MPIN checklist 16 to 32)"),
    ]

    @Test("the M-Pin back end of the lab does what each scenario says", arguments: scenarios)
    func scenario(name: String, sentence: String) async throws {
        try await Workshop.open { shop in try await Self.play(name, in: shop) }
    }

    @Test("the M-Pin back end of a lab that is started again knows its users, secrets and failures")
    func restart() async throws {
        let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: data) }
        for name in ["before", "after"] {
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                try await Self.play(name, in: shop, "\(data)/user.json")
            }
        }
    }

    @Test("latchkey-lab mpin lists users, plays mail and browser, and changes settings")
    func command() async throws {
        let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: data) }
        try await Workshop.open({ $0.dataDirectory = data }) { shop in
            func mpin(_ arguments: String...) async throws -> String {
                try await run(
                    GatewayLabTests.CommandTests.program,
                    ["mpin"] + arguments + ["--admin", shop.lab.adminURL, "--data", data]
                ).output
            }
            #expect(try await mpin() == "no M-Pin users\n")
            try await Self.play("before", in: shop, "\(data)/user.json")
            let user = try #require(await shop.lab.mpinUsers().first)
            let row = try await mpin().split(separator: "\n").last ?? ""
            #expect(row.split(separator: " ").prefix(3) == ["alice@example.org", "issued", "1"])
            #expect(try await mpin("change", "alice@example.org", "revoke") == "alice@example.org: revoke\n")
            #expect(await shop.lab.mpinUsers().first?.isRevoked == true)
            #expect(try await mpin("change", user.id, "restore").contains("restore"))
            #expect(await shop.lab.mpinUsers() == [user])
            #expect(try await mpin("code", "bob").wholeMatch(of: /[0-9]{6}\n/) != nil)
            #expect(try await mpin("browser").wholeMatch(of: /[0-9]{6}[1-9]\n/) != nil)
            let code = try await mpin("browser", "--qr")
            #expect(code.hasPrefix(shop.lab.mpinURL + "#") && code.count == shop.lab.mpinURL.count + 34)
            let settings = try await mpin("set", "use_permits=false", "refused_users=[\"eve\"]", "activation=forced")
            #expect(settings.contains("use_permits"))
            let policy = await shop.lab.mpinPolicy()
            #expect(!policy.usePermits && policy.refusedUsers == ["eve"] && policy.activation == .forced)
            for (arguments, message) in [
                (["set", "limit=0"], "limit must be a number from 1 to 100"),
                (["set", "limits=1"], "no setting limits"),
                (["activate", "alice@example.org"], "no registration to be verified"),
                (["change", "nobody", "block"], "no M-Pin user nobody"),
            ] {
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await run(
                        GatewayLabTests.CommandTests.program,
                        ["mpin"] + arguments + ["--admin", shop.lab.adminURL, "--data", data])
                }
                #expect(failure?.status == 65 && failure?.errors.contains(message) == true, "\(failure?.errors ?? "")")
            }
        }
    }

    @Test("the log of the M-Pin back end contains neither one-time passwords nor activation codes")
    func log() async throws {
        try await Workshop.open { shop in
            try await Self.play("password", in: shop)
            let user = try #require(await shop.lab.mpinUsers().first)
            let password = try #require(user.oneTimePassword)
            let code = try await shop.lab.issueMPinCode(for: "bob")
            #expect(shop.lab.log.contains { $0.text == "M-Pin user alice@example.org logged in" })
            #expect(!shop.lab.log.contains { $0.text.contains(password) || $0.text.contains(code) })
        }
    }

    /// Plays a scenario of the client in Python.
    static func play(_ scenario: String, in shop: Workshop, _ arguments: String...) async throws {
        let authority = "\(shop.directory)/mpin-ca.pem"
        try Data(shop.lab.caCertificatePEM.utf8).write(to: URL(fileURLWithPath: authority))
        do {
            try await run(
                "python3",
                ["-B", script, shop.lab.mpinURL, authority, shop.lab.adminURL, shop.lab.adminToken, scenario]
                    + arguments)
        } catch let failure as ProgramFailure {
            Issue.record("\(scenario): \(failure.errors)")
        }
    }
}
