import Cryptography
import Foundation
import GatewayLab
import Testing

@testable import Gateway

@Suite("Gateways a board knows", .serialized, .timeLimit(.minutes(1)))
struct GatewaysTests {
    @Test("are switched with events, and switching back finds the first registration (1.2, MAG checklist 6)")
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

    @Test("are none on a new board")
    func none() async throws {
        try await withBench { bench async throws in
            let gateways = Gateways(vault: bench.vault)
            #expect(try await gateways.active() == nil)
            #expect(try await gateways.known().isEmpty)
        }
    }
}
