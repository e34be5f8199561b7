import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    /// Whom the lab's broker accepts, groups, and its reports of errors.
    @Suite("Clients of the lab's broker")
    struct BrokerClientsTests {
        private func isRefused(_ phone: Phone) async -> Bool {
            do {
                try await phone.publish("/2.0/client/custom/all", "1")
                return false
            } catch {
                return (error as? ProgramFailure)?.status == BrokerTests.notAuthorized
            }
        }

        @Test(
            "the lab's broker accepts users only, boards only or both, as the lab is told",
            arguments: BrokerClients.allCases)
        func modes(clients: BrokerClients) async throws {
            try await Workshop.open({
                $0.broker = true
                $0.brokerClients = clients
            }) { shop in
                let board = try await Phone(shop)
                let alice = try await Phone(shop, "alice's phone", user: "alice")
                #expect(await isRefused(board) == (clients == .users))
                #expect(await isRefused(alice) == (clients == .boards))
            }
        }

        @Test("a board whose connection is taken over by its next one is connected at the lab until that one ends")
        func takeOver() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let board = try await Phone(shop)
                var events = shop.lab.events.subscribe().makeAsyncIterator()
                func noted(_ text: String) async throws {
                    while let event = await events.next() {
                        if event.kind == .broker, event.text.hasPrefix(text) { return }
                    }
                    throw CancellationError()
                }
                func isShown() async throws -> Bool? {
                    let state = try await run("curl", ["-sS"] + shop.adminHeader + ["\(shop.lab.adminURL)/api/state"])
                    return try JSON(parsing: Array(state.output.utf8))["devices"]?[0]?["connected"]?.bool
                }
                let former = try board.stay()
                // It would come back and take over in turn.
                defer { kill(former.processIdentifier, SIGKILL) }
                try await noted("subscribed")
                kill(former.processIdentifier, SIGSTOP)
                let next = try board.stay()
                defer { kill(next.processIdentifier, SIGKILL) }
                try await noted("connected")
                try await noted("subscribed")
                #expect(await Array(shop.lab.brokerSessions.keys) == [board.clientID])
                #expect(try await isShown() == true)
                #expect(await isRefused(board.with { $0.token = "another" }))
                #expect(try await isShown() == true)
                kill(next.processIdentifier, SIGKILL)
                try await noted("disconnected")
                #expect(await shop.lab.brokerSessions.isEmpty)
                #expect(try await isShown() == false)
            }
        }

        @Test("clients of the lab's broker send to groups, which their members alone read")
        func groups() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let alice = try await Phone(shop, "alice's phone", user: "alice")
                let bob = try await Phone(shop, "bob's phone", user: "bob")
                let board = try await Phone(shop)
                let topic = "/2.0/client/groups/operators/custom/operators"
                try await bob.publish(topic, "hello", more: ["-r"])
                #expect(
                    try await alice.subscribe("/2.0/client/groups/operators/custom/#", count: 1).output == "hello\n")
                for reader in [bob, board] {
                    let answer = try await reader.subscribe("/2.0/client/groups/operators/custom/#", count: 1)
                    #expect(answer.errors.contains("denied"))
                }
                try await board.publish("/2.0/client/groups/household/custom/x", "1")
                let passed = shop.lab.messages.count
                try await board.publish("/2.0/client/groups/strangers/custom/x", "1")
                #expect(shop.lab.messages.count == passed)
            }
        }

        @Test("clients of the lab's broker learn of undelivered messages at an error topic, where they cannot publish")
        func errors() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let alice = try await Phone(shop, "alice's phone", user: "alice")
                let topic = "/2.0/client/users/alice/custom/error"
                // mosquitto_rr subscribes to the answer's topic before it sends.
                let answer = try await alice.ask("/2.0/client/users/nobody/custom/x", "1", answeredAt: topic)
                #expect(
                    answer.output == #"{"message":"may not publish to /2.0/client/users/nobody/custom/x"}"# + "\n")
                let passed = shop.lab.messages.count
                try await alice.publish(topic, "forged")
                #expect(shop.lab.messages.count == passed)
            }
        }
    }
}
