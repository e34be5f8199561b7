import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    /// One-time passwords, asked for by curl.
    @Suite("One-time passwords of the lab")
    struct OneTimePasswordTests {
        private struct Caller {
            let shop: Workshop
            let token: String

            func hello(_ password: String? = nil) async throws -> Curl.Reply {
                var headers = ["Authorization": "Bearer \(token)"]
                headers["x-otp"] = password
                return try await shop.curl.send("GET", "/lab/hello", headers: headers)
            }

            func order(_ channels: String? = "EMAIL") async throws -> Curl.Reply {
                var headers = ["Authorization": "Bearer \(token)"]
                headers["X-OTP-CHANNEL"] = channels
                return try await shop.curl.send("GET", "/auth/generateOTP", headers: headers)
            }

            /// What the lab has sent to alice.
            func password() async throws -> String {
                try #require(await shop.lab.oneTimePasswords().first { $0.owner == "alice" }?.password)
            }
        }

        private func withAlice(
            _ policy: @escaping @Sendable (inout OneTimePasswordPolicy) -> Void = { _ in },
            _ body: (Workshop, Caller) async throws -> Void
        ) async throws {
            try await Workshop.open { shop in
                let alice = try await shop.lab.makeClient(named: "phone", user: "alice")
                try await shop.lab.demandOneTimePasswords(at: [.hello], policy)
                try await body(shop, Caller(shop: shop, token: alice.accessToken))
            }
        }

        /// The names of an answer's headers about passwords, as they are spelled, with their values.
        private func said(_ reply: Curl.Reply) -> [String] {
            reply.headers.filter { $0.0.uppercased().hasPrefix("X-OTP") || $0.0.lowercased() == "x-ca-err" }
                .map { "\($0.0): \($0.1)" }.sorted()
        }

        @Test(
            "the lab demands, sends and takes a one-time password once, by the table (MAG checklist 65, 67)")
        func right() async throws {
            try await withAlice { shop, alice in
                let demanded = try await alice.hello()
                #expect(demanded.status == 401 && demanded.json["error"] == "otp_select_channel")
                #expect(said(demanded) == ["X-OTP-CHANNEL: EMAIL,SMS", "X-OTP: required", "x-ca-err: 8000140"])
                let sent = try await alice.order("EMAIL,SMS")
                #expect(sent.status == 200 && said(sent) == ["X-OTP: generated"])
                let password = try await alice.password()
                #expect(password.count == 6 && password.allSatisfy(\.isNumber))
                #expect(!shop.lab.log.contains { $0.text.contains(password) })
                #expect(shop.lab.log.contains { $0.text == "one-time password sent to alice by EMAIL, SMS" })
                #expect(try await alice.hello(password).status == 200)
                #expect(try await alice.hello(password).errorCode == "8000140")
                #expect(try await shop.curl.send("GET", "/lab/hello").errorCode == "3007992")
                try await shop.lab.demandOneTimePasswords(at: [])
                #expect(try await alice.hello().status == 200)
            }
        }

        @Test("two wrong one-time passwords are refused, then the user is suspended (MAG checklist 65)")
        func wrong() async throws {
            try await withAlice { shop, alice in
                #expect(try await alice.order().status == 200)
                for left in [2, 1] {
                    let wrong = try await alice.hello("0")
                    #expect(wrong.status == 401)
                    #expect(
                        said(wrong) == [
                            "X-OTP-CHANNEL: EMAIL,SMS", "X-OTP-RETRY: \(left)", "X-OTP: invalid", "x-ca-err: 8000142",
                        ])
                    // Another password brings no further attempts.
                    #expect(try await alice.order().status == 200)
                }
                for reply in [try await alice.hello("0"), try await alice.hello(), try await alice.order()] {
                    #expect(reply.status == 403)
                    let headers = said(reply)
                    #expect(headers.contains("X-OTP: suspended") && headers.contains("x-ca-err: 8000145"))
                    #expect(headers.contains("X-OTP-RETRY: -1"))
                    let interval = reply.header("X-OTP-RETRY-INTERVAL").flatMap { Int($0) }
                    #expect((10...100).contains(try #require(interval)))
                }
                shop.lab.advanceClock(by: .seconds(101))
                #expect(try await alice.order().status == 200)
                #expect(try await alice.hello(try await alice.password()).status == 200)
            }
        }

        @Test("one-time passwords end, are limited, and use known channels only (MAG checklist 65)")
        func ends() async throws {
            try await withAlice({ $0.deliveries = 2 }) { shop, alice in
                #expect(try await alice.order().status == 200)
                let password = try await alice.password()
                shop.lab.advanceClock(by: .seconds(301))
                let late = try await alice.hello(password)
                #expect(late.status == 400)
                #expect(said(late) == ["X-OTP-RETRY: 3", "X-OTP: expired", "x-ca-err: 8000143"])
                for channels in [nil, "PIGEON", "EMAIL,PIGEON"] {
                    let refused = try await alice.order(channels)
                    #expect(refused.status == 400 && refused.errorCode == "8000400")
                }
                for channel in ["EMAIL", "SMS"] { #expect(try await alice.order(channel).status == 200) }
                let many = try await alice.order()
                #expect(many.status == 403)
                #expect(said(many) == ["X-OTP-RETRY-INTERVAL: 100", "x-ca-err: 8000144"])
            }
        }

        @Test("one-time passwords serve a whole session where the lab remembers them, and say less without headers")
        func variants() async throws {
            try await withAlice({ $0.remembers = 60 }) { shop, alice in
                #expect(try await alice.order().status == 200)
                #expect(try await alice.hello(try await alice.password()).status == 200)
                #expect(try await alice.hello().status == 200)
                shop.lab.advanceClock(by: .seconds(61))
                #expect(try await alice.hello().status == 401)
                try await shop.lab.demandOneTimePasswords(at: [.hello]) { $0.hasHeaders = false }
                #expect(said(try await alice.hello()) == ["x-ca-err: 8000140"])
            }
        }

        @Test("one-time passwords are set and shown by the latchkey-lab command")
        func command() async throws {
            let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: data) }
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                func otp(_ arguments: String...) async throws -> String {
                    try await run(
                        CommandTests.program, ["otp"] + arguments + ["--admin", shop.lab.adminURL, "--data", data]
                    ).output
                }
                let client = try await shop.lab.makeClient(named: "phone", user: "alice")
                let alice = Caller(shop: shop, token: client.accessToken)
                #expect(try await otp().contains("no one-time passwords"))
                #expect(try await otp("demand", "L1", "--channel", "SMS", "--tries", "4").contains("demanded at L1"))
                #expect(said(try await alice.hello()).contains("X-OTP-CHANNEL: SMS"))
                #expect(try await alice.order("SMS").status == 200)
                let row = try await otp().split(separator: "\n").last ?? ""
                #expect(
                    row.split(separator: " ").prefix(4) == ["alice", Substring(try await alice.password()), "SMS", "4"])
                #expect(try await otp("demand").contains("nowhere"))
                #expect(try await alice.hello().status == 200)
            }
        }

        @Test("one-time passwords are set and shown by the admin API")
        func admin() async throws {
            try await withAlice { shop, alice in
                let set = try await ask(
                    shop, "POST", ["endpoints": ["L2"], "channels": ["QRCODE"], "tries": 5, "life_seconds": 10])
                #expect(set == [:])
                let policy = await shop.lab.oneTimePasswordPolicy()
                #expect(policy.endpoints == [.echo] && policy.channels == ["QRCODE"] && policy.tries == 5)
                #expect(policy.life == 10 && policy.suspension == 100)
                for bad in [
                    ["endpoints": ["E16"]], ["endpoints": ["X"]], ["channels": ["PIGEON"]], ["tries": 0],
                    ["channels": []],
                ] as [JSON] {
                    #expect(try await ask(shop, "POST", bad)["code"] == "lab.bad-input", "\(bad)")
                }
                #expect(try await alice.order("QRCODE").status == 200)
                let password = try await alice.password()
                let state = try await ask(shop, "GET", nil)
                #expect(state["one_time_passwords"]?[0]?["password"] == .string(password))
                #expect(state["one_time_passwords"]?[0]?["user"] == "alice")
            }
        }

        private func ask(_ shop: Workshop, _ method: String, _ body: JSON?) async throws -> JSON {
            var arguments = ["-sS", "-X", method] + shop.adminHeader
            if let body { arguments += ["-H", "Content-Type: application/json", "--data-binary", body.text] }
            let path = body == nil ? "state" : "otp"
            return try JSON(
                parsing: Array(try await run("curl", arguments + ["\(shop.lab.adminURL)/api/\(path)"]).output.utf8))
        }
    }
}
