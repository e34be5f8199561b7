import Cryptography
import Foundation
import GatewayLab
import Testing
import Vault

@testable import Gateway

@Suite("Gateways a board knows", .serialized, .timeLimit(.minutes(5)))
struct GatewaysTests {
    @Test("gateways are switched with events, and switching back finds the registration (MAG 1.2, MAG checklist 6)")
    func switching() async throws {
        try await withBench { first in
            try await withBench { second in
                let gateways = Gateways(vault: first.vault)
                let log = EventLog(gateways.events)
                let (here, there) = (first.configuration.identity, second.configuration.identity)
                try await gateways.activate(first.configuration)
                let session = first.session()
                try await session.ready()
                let status = try await session.status()

                #expect(try await gateways.activate(second.configuration) == here)
                let away = first.session(second.configuration)
                #expect(try await away.status().registration == .unregistered)
                try await away.ready()
                #expect(try await gateways.known() == [here, there].sorted { $0.scope < $1.scope })

                try await gateways.activate(first.configuration)
                // The same gateway again is no switch.
                #expect(try await gateways.activate(first.configuration) == nil)
                first.lab.resetCounts()
                let active: GatewayConfiguration = try #require(try await gateways.active())
                let back = first.session(active)
                try await back.ready()
                #expect(try await back.status().magIdentifier == status.magIdentifier)
                #expect(first.lab.requestCounts.isEmpty)
                #expect(
                    await log.all() == [
                        .willSwitchGateway(from: nil, to: here), .didSwitchGateway(from: nil, to: here),
                        .willSwitchGateway(from: here, to: there), .didSwitchGateway(from: here, to: there),
                        .willSwitchGateway(from: there, to: here), .didSwitchGateway(from: there, to: here),
                    ])
            }
        }
    }

    @Test("accounts of gateways beside the default one are switched and removed one by one")
    func accounts() async throws {
        try await withBench { first in
            try await withBench { second in
                let gateways = Gateways(vault: first.vault)
                let (here, there) = (first.configuration.identity, second.configuration.identity)
                try await gateways.activate(first.configuration)
                #expect(try await gateways.activate(second.configuration, as: "plant2") == nil)
                #expect(try await gateways.accounts() == ["gateway": here, "plant2": there])
                #expect(try await gateways.active(account: "plant2") == second.configuration)
                #expect(try await gateways.active() == first.configuration)
                try await first.session(second.configuration).ready()
                try await gateways.remove(account: "plant2")
                #expect(try await gateways.accounts() == ["gateway": here])
                #expect(try await first.vault.scopes().contains(there.scope) == false)
                #expect(try await gateways.known() == [here])
            }
        }
    }

    @Test("a switch of gateways and the wish not to register by itself are stored in one commit")
    func withoutRegistering() async throws {
        try await withBench { bench in
            let gateways = Gateways(vault: bench.vault)
            try await gateways.activate(bench.configuration, registers: false)
            // As after a power cut right behind that commit.
            let session = bench.session()
            #expect(await failure { try await session.ready() } == .notRegistered)
            #expect(bench.lab.connections == 0)
            try await bench.sessionEnrolledAgain().ready()

            try await gateways.activate(bench.configuration, registers: false)
            let registered = bench.session()
            try await registered.dropAccessToken()
            try await registered.ready()
            #expect(try await !bench.records().contains("registration-rest"), "it waits for nobody")

            try await registered.reset()
            try await gateways.activate(bench.configuration)
            try await bench.session().ready()
        }
    }

    @Test("the record of the active gateway is that of the default account")
    func formerVault() async throws {
        try await withBench { bench in
            let identity = bench.configuration.identity
            let name = RecordName(scope: "", name: "active-gateway")
            try await bench.vault.commit([
                .put(name, .configuration, SecretBytes(utf8: identity.scope)),
                .put(
                    RecordName(scope: identity.scope, name: "configuration"), .configuration,
                    SecretBytes(bench.configuration.bytes)),
                // Of a kind that a later version knows.
                .put(RecordName(scope: "", name: "account-later"), .configuration, SecretBytes(utf8: #"{"kind":"x"}"#)),
            ])
            let gateways = Gateways(vault: bench.vault)
            #expect(try await gateways.accounts() == ["gateway": identity])
            #expect(try await gateways.active() == bench.configuration)
            try await gateways.activate(bench.configuration)
            #expect(try await bench.vault.record(name)?.content.exposedText() == identity.scope)
        }
    }

    @Test("a new board knows no gateway")
    func none() async throws {
        try await withBench { bench async throws in
            let gateways = Gateways(vault: bench.vault)
            #expect(try await gateways.active() == nil)
            #expect(try await gateways.known().isEmpty)
        }
    }
}
