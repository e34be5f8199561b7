import Cryptography
import Foundation
import GatewayLab
import Groundwork
import OAuth
import Testing
import Vault

@testable import Gateway

@Suite("What a session keeps", .serialized, .timeLimit(.minutes(1)))
struct HoldingsTests {
    private static let key = try! PrivateKey(generating: .p256)  // Cannot fail where the tests can run at all.
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func full() throws -> Holdings {
        let certificate = try Documents.certificate(for: Self.key.publicKey, from: now - 60, until: now + 86_400)
        return Holdings(
            identifierKey: Self.key, pendingKey: Self.key,
            device: Device(
                key: Self.key, chain: [certificate], magIdentifier: "mag-1", isActive: false, registeredAt: now,
                renewedAt: now),
            renewedChain: [certificate], rest: .withdrawn(code: 1_000_107),
            client: ClientCredentials(
                masterID: "5c0e",
                authentication: ClientAuthentication(id: "c900", secret: SecretBytes(utf8: "s"), expires: now + 60),
                isStatic: false),
            tokens: HeldTokens(
                access: HeldToken(value: SecretBytes(utf8: "at"), lifetime: 60, scope: "a b", at: now, uptime: .zero),
                refresh: SecretBytes(utf8: "rt"),
                id: HeldIDToken(value: SecretBytes(utf8: "it"), type: HeldIDToken.jwtBearer, expires: now + 60)),
            user: HeldUser(
                name: "alice", loggedInAt: now,
                tokens: HeldTokens(
                    access: HeldToken(
                        value: SecretBytes(utf8: "uat"), lifetime: 60, scope: "c", at: now, uptime: .zero),
                    refresh: SecretBytes(utf8: "urt"),
                    id: HeldIDToken(value: SecretBytes(utf8: "uit"), type: "other", expires: nil))))
    }

    /// What would be on disk after these changes to an empty vault.
    private func records(_ holdings: Holdings) throws -> [HoldingsRecord: SecretBytes] {
        var records: [HoldingsRecord: SecretBytes] = [:]
        for change in try HoldingsChanges(from: Holdings(), to: holdings, scope: "s").changes {
            guard case .put(let name, _, let content) = change else { continue }
            records[try #require(HoldingsRecord(rawValue: name.name))] = content
        }
        return records
    }

    @Test("is read back as it was written, every part of it")
    func roundTrip() throws {
        let full = try full()
        let records = try records(full)
        #expect(Set(records.keys) == Set(HoldingsRecord.allCases))
        let read = try HoldingsReader(records: records).holdings(at: now, uptime: .zero)
        #expect(try HoldingsChanges(from: full, to: read, scope: "s").changes.isEmpty)
        #expect(read.deviceID == full.deviceID)
    }

    @Test("of a time before there were users, or of a log-in that nothing is left of, is of a board without a user")
    func withoutUser() throws {
        var full = try full()
        var records = try records(full)
        for record in [HoldingsRecord.userAccessToken, .userRefreshToken, .userIDToken] { records[record] = nil }
        #expect(try HoldingsReader(records: records).holdings(at: now, uptime: .zero).user == nil)
        for record in HoldingsRecord.allCases where record.rawValue.hasPrefix("user") { records[record] = nil }
        let read = try HoldingsReader(records: records).holdings(at: now, uptime: .zero)
        full.user = nil
        #expect(try HoldingsChanges(from: full, to: read, scope: "s").changes.isEmpty)
    }

    @Test("is written only where it changed")
    func difference() throws {
        let full = try full()
        var next = full
        next.tokens.access = nil
        let names = try HoldingsChanges(from: full, to: next, scope: "s").changes.map { change in
            if case .remove(let name) = change { name.name } else { "put" }
        }
        #expect(names == ["access-token", "access-token-terms"])
        next = full
        next.user?.tokens.refresh = nil
        #expect(try HoldingsChanges(from: full, to: next, scope: "s").changes.count == 1)
        next.user = nil
        let removed = try HoldingsChanges(from: full, to: next, scope: "s").changes.compactMap { change in
            if case .remove(let name) = change { name.name } else { nil }
        }
        #expect(Set(removed) == Set(HoldingsRecord.allCases.map(\.rawValue).filter { $0.hasPrefix("user") }))
    }

    @Test(
        "is an error when parts of a registration do not fit together",
        arguments: [
            HoldingsRecord.deviceKey, .certificates, .registration,
        ])
    func incomplete(missing: HoldingsRecord) throws {
        var records = try records(full())
        records[missing] = nil
        #expect(throws: GatewayError.deviceRecordInvalid(reason: "a part of it is missing")) {
            try HoldingsReader(records: records).holdings(at: now, uptime: .zero)
        }
        records = try self.records(full())
        records[.deviceKey] = try PrivateKey(generating: .p256).pkcs8()
        #expect(throws: GatewayError.deviceRecordInvalid(reason: "the certificate is not for the key")) {
            try HoldingsReader(records: records).holdings(at: now, uptime: .zero)
        }
    }

    @Test("loses client credentials and tokens, and nothing else, when the client is refused (12.4, …201)")
    func clearClient() throws {
        var holdings = try full()
        holdings.clearClient()
        #expect(holdings.client == nil && holdings.tokens.access == nil && holdings.tokens.refresh == nil)
        #expect(holdings.device != nil && holdings.tokens.id != nil && holdings.identifierKey != nil)
        #expect(holdings.user?.name == "alice" && holdings.user?.tokens.id != nil)
        #expect(holdings.user?.tokens.access == nil && holdings.user?.tokens.refresh == nil)
        holdings = try full()
        holdings.user?.tokens.id = nil
        holdings.clearClient()
        #expect(holdings.user == nil, "nothing is left of the log-in")
    }

    @Test("loses the same for another master client, and nothing for the same one (12.4, MAG checklist 7)")
    func adopt() throws {
        var holdings = try full()
        holdings.adopt(try GatewayConfiguration(parsing: Documents.document()))
        #expect(holdings.client != nil && holdings.tokens.access != nil)
        holdings.adopt(
            try GatewayConfiguration(
                parsing: Documents.document { $0.set("oauth.client.client_ids.0.client_id", to: "other") }))
        #expect(holdings.client == nil && holdings.tokens.access == nil && holdings.tokens.refresh == nil)
        #expect(holdings.device != nil && holdings.tokens.id != nil)
    }

    @Test("that is damaged can still be reset, and the board registers anew")
    func damaged() async throws {
        try await withBench { bench in
            try await bench.session().ready()
            let scope = bench.configuration.identity.scope
            try await bench.vault.commit([.remove(RecordName(scope: scope, name: "device-key"))])
            let session = bench.session()
            #expect(await failure { try await session.ready() }?.code == "gateway.device-record-invalid")
            try await session.reset()
            try await session.register()
            #expect(try await session.status().registration == .registered)
        }
    }
}

@Suite("Additional hosts")
struct HostSecurityTests {
    @Test("need something that proves them, a name and a port (MAG 1.3)")
    func refused() throws {
        for make in [
            { try HostSecurity(host: "h.test", port: 443) },
            { try HostSecurity(host: "https://h.test", port: 443, usesPublicAnchors: true) },
            { try HostSecurity(host: "h.test", port: 0, usesPublicAnchors: true) },
        ] as [() throws -> HostSecurity] {
            #expect { try make() } throws: { ($0 as? GatewayError)?.localCode == 100_211 }
        }
        #expect(try HostSecurity(host: "H.test", port: 443, usesPublicAnchors: true).host == "h.test")
    }
}
