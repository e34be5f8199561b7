import Cryptography
import Foundation
import GatewayLab
import Groundwork
import Testing
import Vault

@testable import Gateway

@Suite("Store of a session's holdings", .serialized, .timeLimit(.minutes(5)))
struct HoldingsStoreTests {
    @Test("a session's vault has one document for all that changes together, and the keys")
    func records() async throws {
        try await withBench({ $0.givesSessionsToClients = true }) { bench in
            let session = bench.session()
            try await session.ready()
            try await session.logIn("alice")
            let records = try await bench.records()
            let keys = records.filter { KeyReference($0) != nil }
            #expect(
                records.subtracting(keys) == [
                    "board-tokens", "client-credentials", "device", "device-identity", "user-log-in",
                ])
            let references = try await session.store.holdings().references
            #expect(keys.count == 2 && keys == Set(references.map(\.description)))
        }
    }

    @Test("a session without the device's key is an error, can be reset, and registers anew")
    func damaged() async throws {
        try await withBench { bench in
            let first = bench.session()
            try await first.ready()
            let key = try #require(try await first.store.holdings().device?.key)
            let keys = bench.vault.keys(of: bench.configuration.identity.scope)
            try await bench.vault.commit(keys.removal(of: key))
            let session = bench.session()
            let fault = GatewayError.deviceRecordInvalid(reason: "a part of it is missing")
            #expect(await failure { try await session.ready() } == fault)
            #expect(fault.code == "gateway.device-record-invalid")
            try await session.reset()
            let again = try await bench.sessionEnrolledAgain()
            try await again.ready()
            #expect(try await again.status().registration == .registered)
        }
    }

    @Test("a session whose document names another key than the certificate's is an error")
    func otherKey() async throws {
        try await withBench { bench in
            try await bench.session().ready()
            let scope = bench.configuration.identity.scope
            let other = try await bench.vault.keys(of: scope).make(.p256, label: "device")
            let name = HoldingsDocument.device.name(in: scope)
            let record = try #require(try await bench.vault.record(name))
            var members = try #require(try JSON(parsing: record.content.exposed()).object)
            members["key"] = .string(other.reference.description)
            try await bench.vault.commit([.put(name, record.kind, SecretBytes(JSON.object(members).bytes))])
            let fault = GatewayError.deviceRecordInvalid(reason: "the certificate is not for the key")
            #expect(await failure { try await bench.session().ready() } == fault)
        }
    }

    @Test("a session's vault loses the keys that nobody refers to after a crash, and no other")
    func sweep() async throws {
        try await withBench { bench in
            try await bench.session().ready()
            let keys = bench.vault.keys(of: bench.configuration.identity.scope)
            let before = try await keys.references()
            _ = try await keys.make(.p256, label: "device")
            let session = bench.session()
            #expect(try await session.status().registration == .registered)
            #expect(try await keys.references() == before)
        }
    }
}
