import Cryptography
import Gateway
import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import Agent
@testable import AgentCalls
@testable import AgentCore
@testable import AgentGateway
@testable import LocalAPI

@Suite("The trust of a host", .timeLimit(.minutes(5)))
struct HostTrustTests {
    private static let name = "api.example:8443"

    /// What a route answers root, or a user who may operate.
    @discardableResult
    private func ask(
        _ agent: Agent, _ method: String, _ path: String, _ body: JSON? = nil, asOwner: Bool
    ) async throws -> LocalResponse {
        let target = try RequestTarget(Array(path.utf8))
        let (route, parameters) = try agent.host.router().route(method, target)
        let request = LocalRequest(
            method: method, path: target.path, parameters: parameters, query: [:], headers: HTTPHeaders(),
            body: body?.bytes ?? [], peer: Peer(uid: asOwner ? 0 : 1000, pid: 7, groups: []), isOwner: asOwner,
            mayOperate: true)
        return try await route.answer(request)
    }

    private func host(_ authority: TestAuthority, timeout: Int64 = 60) -> JSON {
        [
            "host": "api.example", "port": 8443, "certificates": [.string(Base64.encode(authority.certificate.der))],
            "timeoutSeconds": .integer(timeout),
        ]
    }

    private func allow(_ agent: Agent, hosts: JSON, token: Bool = false) async throws -> String {
        let grant = try ProgramGrant(json: ["uid": 5, "hosts": hosts, "token": .bool(token)], id: "")
        return try await agent.authorizer.allow(grant, by: "test").id
    }

    @Test("a user who may operate adds a host, and neither replaces how one proves itself nor removes it")
    func owners() async throws {
        try await withAgent { agent, _ in
            let (one, other) = (try TestAuthority("one"), try TestAuthority("other"))
            try await ask(agent, "POST", "/v1/hosts", host(one), asOwner: false)
            let grant = try await allow(agent, hosts: [.string(Self.name)])
            // It is trusted as before.
            try await ask(agent, "POST", "/v1/hosts", host(one, timeout: 5), asOwner: false)
            let refusal = GrantError.trustOfOwners(host: Self.name)
            #expect(refusal.kind.httpStatus == 403)
            await #expect(throws: refusal) { try await ask(agent, "POST", "/v1/hosts", host(other), asOwner: false) }
            await #expect(throws: refusal) {
                try await ask(agent, "DELETE", "/v1/hosts/\(Self.name)", asOwner: false)
            }
            #expect(agent.gateways.hosts.added.map(\.anchors) == [[one.certificate]])
            #expect(agent.gateways.hosts.added.map(\.timeout) == [.seconds(5)])
            #expect(agent.authorizer.book.all.kept.map(\.id) == [grant])
            try await ask(agent, "DELETE", "/v1/hosts/\(Self.name)", asOwner: true)
            #expect(agent.gateways.hosts.added.isEmpty && agent.authorizer.book.all.kept.isEmpty)
        }
    }

    @Test("what a grant allows at a host ends when the host's certificate is replaced, and not when it is put again")
    func grants() async throws {
        try await withAgent { agent, _ in
            let (one, other) = (try TestAuthority("one"), try TestAuthority("other"))
            try await ask(agent, "POST", "/v1/hosts", host(one), asOwner: true)
            let alone = try await allow(agent, hosts: [.string(Self.name)])
            let both = try await allow(agent, hosts: ["gateway", .string(Self.name)])
            let elsewhere = try await allow(agent, hosts: ["gateway"])
            try await ask(agent, "POST", "/v1/hosts", host(one), asOwner: true)
            #expect(agent.authorizer.book.all.kept.map(\.id) == [alone, both, elsewhere])

            try await ask(agent, "POST", "/v1/hosts", host(other), asOwner: true)
            #expect(agent.authorizer.book.all.kept.map(\.id) == [both, elsewhere])
            #expect(agent.authorizer.book.all.kept.map(\.hosts) == [["gateway"], ["gateway"]])
            let stored = GrantBook()
            try await stored.load(from: agent.host.vault)
            #expect(stored.all.kept == agent.authorizer.book.all.kept)
            let ended = await agent.authorizer.log.newest(100).filter { $0["outcome"] == "revoked" }
            #expect(ended.map { $0["grant"] } == [.string(alone), .string(both)])
            #expect(ended.allSatisfy { $0["host"] == .string(Self.name) && $0["by"] == "agent" })
        }
    }

    @Test("a refusal at a host stays when its trust ends, and so does the right to the token itself")
    func rest() throws {
        let name = JSON.string(Self.name)
        func rest(_ members: [String: JSON]) throws -> ProgramGrant? {
            try ProgramGrant(json: .object(members.merging(["uid": 5]) { $1 }), id: "1").ending(atHost: Self.name)
        }
        #expect(try rest(["hosts": [name]]) == nil)
        #expect(try rest(["hosts": [name], "verdict": "never"])?.hosts == [Self.name])
        #expect(try rest(["hosts": [name], "token": true])?.hosts == [])
        #expect(try rest(["hosts": ["other.example:443"]])?.hosts == ["other.example:443"])
    }
}
