import Foundation
import Glibc
import Groundwork
import LocalAPI
import Settings
import Storage
import TestSupport
import Testing
import Vault

@testable import Agent
@testable import AgentCore

/// A client of a server with these routes, for as long as `body` runs.
private func withClient(of router: Router, in folder: String, _ body: (LocalClient) async throws -> Void) async throws {
    let path = folder + "/api.sock"
    let server = LocalServer(socketPath: path, policy: AccessPolicy(owners: [getuid()]), router: router)
    try server.listen()
    let serving = Task { try await server.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body(LocalClient(socketPath: path))) } catch { result = .failure(error) }
    serving.cancel()
    try await serving.value
    try result.get()
}

/// `METHOD /path` of every route in a document of the local API.
private func routes(in document: JSON) -> [String] {
    (document["paths"]?.object ?? [:]).flatMap { path, methods in
        (methods.object ?? [:]).keys.map { "\($0.uppercased()) \(path)" }
    }
}

@Suite("A feature", .timeLimit(.minutes(5)))
struct FeatureTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("a feature brings its routes, check, status member and setting by one line in the list of features")
    func example() async throws {
        let features = Features.all + [Greeting.self]
        let settings = "[greeting]\ntext = \"Moin\"\n"
        let configuration = try AgentConfiguration(toml: settings, path: "test.toml", of: features)
        try await withAgent({ $0[GreetingSettings.self] = configuration[GreetingSettings.self] }, features: features) {
            agent, folder in
            try await withClient(of: agent.host.router(), in: folder) { client in
                func check() async throws -> JSON? {
                    try await client.get("/v1/doctor")["checks"]?.array?.first { $0["name"]?.string == "greeting" }
                }
                #expect(try await check()?["verdict"]?.string == "warn")
                #expect(try await client.get("/v1/greeting") == ["text": "Moin"])
                #expect(try await client.get("/v1/status")["greetings"] == 1)
                let events = agent.host.events.subscribe()
                #expect(try await client.post("/v1/greeting", ["text": "Servus"]) == ["text": "Servus"])
                #expect(try await client.get("/v1/greeting") == ["text": "Servus"])
                #expect(try await client.delete("/v1/greeting") == ["text": "Moin"])
                var changes = events.makeAsyncIterator()
                #expect(await changes.next()?.details["text"] == "Servus")
                #expect(await changes.next()?.details["text"] == "Moin")
                #expect(try await check()?["verdict"]?.string == "pass")
                let document = try await client.get("/v1/openapi.json")
                #expect(routes(in: document).contains("GET /v1/greeting"))
                #expect(
                    document["components"]?["schemas"]?["Status"]?["properties"]?["greetings"]?["type"] == "integer")
            }
        }
    }

    @Test("a feature's settings are refused where they are wrong, and where nobody knows them")
    func exampleSettings() throws {
        func faults(_ toml: String, _ features: [any Feature.Type]) -> [String] {
            do {
                _ = try AgentConfiguration(toml: toml, path: "test.toml", of: features)
                return []
            } catch .faults(_, let faults) {
                return faults.map(\.keyPath)
            } catch {
                return ["\(error)"]
            }
        }
        let features = Features.all + [Greeting.self]
        #expect(faults("[greeting]\ntext = \"\"\n", features) == ["greeting.text"])
        #expect(faults("[greeting]\ntxt = \"Moin\"\n", features) == ["greeting.txt"])
        #expect(faults("[greeting]\ntext = \"Moin\"\n", Features.all) == ["greeting"])
        #expect(AgentConfiguration()[GreetingSettings.self].text == "Hello")
        var configuration = AgentConfiguration()
        configuration[GreetingSettings.self].text = "Moin"
        #expect(configuration[GreetingSettings.self].text == "Moin")
        #expect(configuration != AgentConfiguration())
        configuration[GreetingSettings.self].text = "Hello"
        #expect(configuration == AgentConfiguration(), "a default that is written down changes nothing")
    }

    @Test("the feature in CONTRIBUTING.md is the one that these tests compile and run")
    func exampleIsTold() throws {
        let page = try String(
            contentsOf: Self.repository.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
        let file = try String(
            contentsOf: Self.repository.appending(path: "Tests/Agent/Greeting.swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(file)```\n"))
    }

    @Test("a feature has checks and events of names that no other feature has")
    func namesAreUnique() {
        let checks = Features.all.flatMap { $0.checks }.map { type(of: $0).name }
        #expect(checks.count == Set(checks).count)
        let events = Features.all.flatMap { $0.events }.flatMap { $0.meanings.keys }
        #expect(events.count == Set(events).count)
        #expect(
            checks == [
                "clock", "vault", "storage", "tpm", "token", "vault-rollback", "passcode", "default-document",
                "weak-settings", "network", "dns", "gateway", "pin", "device-certificate-dates", "device-key",
                "first-boot", "certificates", "location", "accounts", "session-lock",
                "oauth-accounts", "mpin",
                "broker",
                "outbox",
                "sensors", "gpio", "data-budget", "home-assistant", "bluetooth", "consent", "api-listener",
            ])
    }
}

@Suite("An agent whose store cannot be opened", .timeLimit(.minutes(5)))
struct StandbyTests {
    /// What stand-by closed before features said what needs the vault.
    private static let closedEver = [
        "POST /v1/messages", "GET /v1/messages", "POST /v1/send", "GET /v1/events", "POST /v1/enrollments",
        "GET /v1/token", "POST /v1/renew", "POST /v1/deregister", "POST /v1/reset", "POST /v1/call",
        "GET /v1/vault/slots",
    ]

    private static func answer(of client: LocalClient, to route: String) async -> LocalAPIError? {
        let parts = route.split(separator: " ").map(String.init)
        let path = parts[1].replacing(/\{[a-z]+\}/, with: "1")
        do {
            switch parts[0] {
            case "GET": _ = try await client.get(path)
            case "DELETE": _ = try await client.delete(path)
            default: _ = try await client.post(path, [:])
            }
            return nil
        } catch {
            return error
        }
    }

    @Test("a locked store still lets version, status, figures and doctor answer, and nothing else")
    func routesOfStandby() async throws {
        try await withAgent { agent, folder in
            await agent.host.vault.close()
            agent.host.vaultFault = .storage(.readOnly(path: folder + "/vault.db"))
            try await withClient(of: agent.host.standbyRouter(), in: folder) { client in
                let all = routes(in: try await client.get("/v1/openapi.json"))
                #expect(Set(all).isSuperset(of: Self.closedEver))
                let open: Set = [
                    "GET /v1/version", "GET /v1/status", "GET /v1/doctor", "GET /v1/metrics", "GET /v1/openapi.json",
                ]
                for route in all {
                    guard !open.contains(route) else { continue }
                    let error = await Self.answer(of: client, to: route)
                    guard case .remote(503, let told) = error else {
                        Issue.record("\(route): \(String(describing: error))")
                        continue
                    }
                    #expect(told.code == "storage.read-only", "\(route)")
                }
                #expect(try await client.get("/v1/version")["latchkey"]?.string == Version.text)
                let status = try await client.get("/v1/status")
                #expect(status["vault"]?["error"]?["code"] == "storage.read-only")
                #expect(status["lastError"]?["code"] == "storage.read-only")
                #expect(status["registration"] == ["state": "unknown"])
                let diagnosis = try await client.get("/v1/doctor")
                #expect(
                    diagnosis["checks"]?.array?.compactMap { $0["name"]?.string } == [
                        "clock", "vault", "storage", "vault-rollback", "api-listener",
                    ])
                let figures = String(decoding: try await client.text("/v1/metrics", as: "text/plain"), as: UTF8.self)
                #expect(figures.contains("\nlatchkey_vault_locked 1\n") && !figures.contains("latchkey_registration"))
                #expect(diagnosis["worst"] == "fail")
            }
            agent.host.vaultFault = nil
        }
    }

    @Test("a route keeps the permission that it needs while the store cannot be opened")
    func permissions() async throws {
        try await withAgent { agent, folder in
            agent.host.vaultFault = .storage(.full(path: folder + "/vault.db"))
            let path = folder + "/api.sock"
            var policy = AccessPolicy(owners: [])
            policy.grants[.read] = AccessPolicy.AccessRight(users: [getuid()])
            let server = LocalServer(socketPath: path, policy: policy, router: agent.host.standbyRouter())
            try server.listen()
            let serving = Task { try await server.run() }
            let client = LocalClient(socketPath: path)
            func status(_ route: String) async -> Int? {
                guard case .remote(let status, _) = await Self.answer(of: client, to: route) else { return nil }
                return status
            }
            #expect(await status("GET /v1/events") == 507)
            #expect(await status("GET /v1/messages") == 507)
            #expect(await status("POST /v1/messages") == 403)
            #expect(await status("POST /v1/token/refresh") == 403)
            // What grants say of it is in the store.
            #expect(await status("GET /v1/token") == 507)
            serving.cancel()
            try await serving.value
            agent.host.vaultFault = nil
        }
    }
}
