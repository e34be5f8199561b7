@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Testing
import Vault

@testable import Gateway

@Suite("A vault with a record for each secret", .serialized, .timeLimit(.minutes(5)))
struct EarlierRecordsTests {
    @Test(
        "a vault with a record for each secret opens with everything that it held, now in a few documents",
        arguments: ["whole", "interrupted", "removed"])
    func everything(gateway: String) async throws {
        try await withEarlierVault { earlier in
            let expected = try earlier.held(gateway)
            let session = try await earlier.session(gateway)
            #expect(try await EarlierHoldings(session.store.holdings()) == expected.holdings)
            let records = try await earlier.records(gateway)
            let keys = records.filter { KeyReference($0) != nil }
            #expect(keys.count == (gateway == "removed" ? 0 : 2), "\(keys)")
            #expect(records.subtracting(keys).isSubset(of: EarlierVault.present), "\(records)")
            #expect(try await earlier.vault.faults().isEmpty)
            // The next start reads the documents.
            let again = try await earlier.session(gateway)
            #expect(try await EarlierHoldings(again.store.holdings()) == expected.holdings)
            #expect(try await earlier.records(gateway) == records)
        }
    }

    @Test("a vault with a record for each secret is converted once, and each gateway's when it is used")
    func once() async throws {
        try await withEarlierVault { earlier in
            let session = try await earlier.session("whole")
            let before = try await earlier.records("interrupted")
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<10 { group.addTask { try await session.status().magIdentifier } }
                for try await magIdentifier in group { #expect(magIdentifier != nil) }
            }
            #expect(try await session.store.state().revision == 0)
            #expect(try await earlier.records("interrupted") == before)
        }
    }

    @Test("a person's wish to be registered is taken from a vault with old records before they are replaced")
    func restEnded() async throws {
        try await withEarlierVault { earlier in
            let gateways = Gateways(vault: earlier.vault)
            let identity = try earlier.identity("removed")
            try await gateways.activate(try #require(try await gateways.configuration(of: identity)))
            #expect(try await earlier.session("removed").store.holdings().rest == nil)
        }
    }

    @Test(
        "damage in a vault with old records is reported as before, stays, and can be reset",
        arguments: [
            ("device-key", nil, "a part of it is missing"),
            ("device-certificates", nil, "a part of it is missing"),
            ("registration", nil, "a part of it is missing"),
            ("registration", "not JSON", "a part of it is missing"),
            ("registration", "{}", "it has no mag-identifier"),
            ("device-certificates", "-----BEGIN CERTIFICATE-----", "device-certificates holds no certificates"),
            (
                "device-certificates-renewed", "-----BEGIN CERTIFICATE-----",
                "device-certificates-renewed holds no certificates"
            ),
            ("device-key", "not a key", "device-key is not a private key"),
            ("device-identifier-key", "not a key", "device-identifier-key is not a private key"),
        ] as [(String, String?, String)])
    func damaged(record: String, content: String?, reason: String) async throws {
        try await withEarlierVault { earlier in
            try await earlier.put(record, content)
            let before = try await earlier.records("whole")
            let session = try await earlier.session("whole")
            await #expect(throws: GatewayError.deviceRecordInvalid(reason: reason)) { try await session.status() }
            #expect(try await earlier.records("whole") == before)
            try await session.reset()
            #expect(try await earlier.records("whole") == ["configuration", "registration-rest"])
            #expect(try await session.status().registration == .unregistered)
        }
    }

    @Test("a certificate that is not for the key is reported in old records, and once they are replaced")
    func otherKey() async throws {
        try await withEarlierVault { earlier in
            let key = try PrivateKey(generating: .p256).pkcs8()
            let name = RecordName(scope: try earlier.held("whole").scope, name: "device-key")
            try await earlier.vault.commit([.put(name, .privateKey, key)])
            let fault = GatewayError.deviceRecordInvalid(reason: "the certificate is not for the key")
            for _ in 0..<2 {
                let session = try await earlier.session("whole")
                await #expect(throws: fault) { try await session.status() }
            }
        }
    }

    @Test(
        "a damaged old record costs no more than what the gateway gives again",
        arguments: [
            ("client", "client"), ("client-secret", "client"), ("access-token", "board"),
            ("access-token-terms", "board"),
            ("id-token-terms", "board"), ("user", "user"), ("user-access-token-terms", "user"),
        ])
    func damagedPart(record: String, part: String) async throws {
        try await withEarlierVault { earlier in
            try await earlier.put(record, record.hasSuffix("token") || record == "client-secret" ? nil : "not JSON")
            var (expected, found) = (
                try earlier.held("whole").holdings,
                EarlierHoldings(try await earlier.session("whole").store.holdings())
            )
            switch part {
            case "client":
                #expect(found.client == nil)
                (expected.client, found.client) = (nil, nil)
            // Tokens go with the credentials of another client, not with those that are missing.
            case "board": (expected.tokens, found.tokens) = (EarlierHoldings.Tokens(), EarlierHoldings.Tokens())
            default: (expected.user, found.user) = (nil, nil)
            }
            #expect(found == expected)
        }
    }
}
