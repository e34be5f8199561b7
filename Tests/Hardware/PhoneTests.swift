import Foundation
import Groundwork
import TestSupport
import Testing

/// Phones with Google's Bluetooth stack, which do as the reference clients do. One board is booted for each transport.
@Suite(
    "A phone beside the board",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct PhoneTests {
    private static let kernel = board(.kernel)
    private static let bluez = board(.bluez)

    private static func board(_ transport: Transport) -> VirtualBoard.Run<VirtualBoard.Log> {
        VirtualBoard.Run {
            var variables = try VirtualBoard.phone()
            variables["TRANSPORT"] = transport.rawValue
            // Sensors are not what this is about.
            return try await VirtualBoard.log(
                of: "phone", definition: "virtual-board", controllers: 4, environment: variables
            ) {
                VirtualBoard.withoutSensors($0)
            }
        }
    }

    func log(_ transport: Transport) async throws -> VirtualBoard.Log {
        try await (transport == .kernel ? Self.kernel : Self.bluez).value
    }

    func during(_ step: String, _ transport: Transport) async throws -> Exchange {
        Exchange(lines: try await log(transport).during(step))
    }

    // MARK: The phone is let in

    @Test(
        "a phone is let in by an agent with alice logged in, and the gateway knows by whom (MAG 8.2)",
        arguments: Transport.allCases)
    func letIn(_ transport: Transport) async throws {
        #expect(try await during("alice", transport).observed("login") == [0])
        let state = try #require(try await during("after", transport).state)
        for step in ["android", "silent-android", "iphone", "nameless", "returned", "replay", "after"] {
            let exchange = try await during(step, transport)
            let url = try #require(exchange.url, "\(step)")
            let session = state["authorizations"]?.array?.first { $0["id"]?.string.map(url.hasSuffix) ?? false }
            #expect(session?["status"]?.string == "authorized", "\(step)")
            #expect(session?["user"]?.string == "alice", "\(step)")
            #expect(exchange.events("proximity.consent-asked").count == 1, "\(step)")
        }
        let waiting = state["authorizations"]?.array?.filter { $0["status"]?.string == "waiting" }
        #expect(waiting?.isEmpty == false)
    }

    @Test(
        "a phone that writes before it subscribes, and wants indications, gets one (MAG 8.4)",
        arguments: Transport.allCases)
    func android(_ transport: Transport) async throws {
        let exchange = try await during("android", transport)
        #expect(exchange.phone("seen").first?["name"]?.string == "board")
        // bluetoothd asks for more by itself.
        if transport == .kernel { #expect(exchange.phone("discovered").first?["mtu"]?.integer == 23) }
        #expect(exchange.phone("subscribed").first?["bits"]?.integer == 2)
        #expect(exchange.phone("unfinished").first?["pieces"]?.integer == 8)
        #expect(exchange.phone("value").map { $0["value"]?.string } == ["0"])
        #expect(exchange.phone("value").first?["by"]?.string == "indication")
        #expect(exchange.phone("ended").first?["status"]?.integer == 0)
    }

    @Test(
        "a phone is named in the question as it calls itself, even beyond ASCII (MAG 8.2)",
        arguments: Transport.allCases)
    func named(_ transport: Transport) async throws {
        let question = try await during("android", transport).events("proximity.consent-asked").first
        #expect(question?["name"]?.string == "Küchenfenster №5 ☕")
        let nameless = try await during("nameless", transport).events("proximity.consent-asked").first
        #expect(nameless?["name"] == .null)
        #expect(nameless?["message"]?.string?.hasPrefix("a device without a name") == true)
    }

    @Test("a phone goes through the states of the peripheral, in order (MAG 8.6)", arguments: Transport.allCases)
    func states(_ transport: Transport) async throws {
        #expect(try await during("alice", transport).states == [12])
        for step in ["android", "iphone", "nameless"] {
            // The phone is gone as soon as it has its answer.
            let states = try await during(step, transport).states
            #expect([[10, 14, 15, 11], [10, 14, 11, 15]].contains(states), "\(step)")
        }
    }

    @Test(
        "a phone without a subscription gets its answer from the kernel, or else the gateway (MAG 8.2)",
        arguments: Transport.allCases)
    func unsubscribed(_ transport: Transport) async throws {
        let exchange = try await during("silent-android", transport)
        #expect(exchange.phone("subscribed").isEmpty)
        switch transport {
        case .kernel:
            #expect(exchange.phone("value").map { $0["value"]?.string } == ["0"])
            #expect(exchange.phone("value").first?["by"]?.string == "notification")
        case .bluez:
            #expect(exchange.phone("value").isEmpty)
            #expect(exchange.events("proximity.session-not-notified").first?["error_android"]?.integer == 123)
            #expect(exchange.events("proximity.session-not-notified").first?["error_ios"]?.integer == 650_004)
        }
        #expect(exchange.events("proximity.session-authorized").count == 1)
        let polled = try #require(exchange.lines.first { $0["event"]?.string == "polled" }?["answer"])
        #expect(polled["code"]?.string?.isEmpty == false)
    }

    @Test(
        "a phone that writes pretty-printed JSON at once, and wants notifications, gets one (MAG 8.2)",
        arguments: Transport.allCases)
    func iphone(_ transport: Transport) async throws {
        for step in ["iphone", "nameless"] {
            let exchange = try await during(step, transport)
            #expect(try #require(exchange.phone("discovered").first?["mtu"]?.integer) > 23)
            #expect(exchange.phone("subscribed").map { $0["bits"]?.integer } == [1, 0])
            #expect(exchange.phone("value").map { $0["value"]?.string } == ["0"])
            #expect(exchange.phone("value").first?["by"]?.string == "notification")
            #expect(exchange.phone("ended").first?["status"]?.integer == 0)
        }
    }

    @Test("a phone is let in by a press of the button", arguments: Transport.allCases)
    func button(_ transport: Transport) async throws {
        let answers = try await during("iphone", transport).events("proximity.consent-answered")
        #expect(answers.map { $0["decision"]?.string } == ["granted"])
        #expect(answers.first?["by"]?.string == "button")
        let others = try await during("android", transport).events("proximity.consent-answered")
        #expect(others.map { $0["by"]?.string } == ["user root"])
    }

    // MARK: The agent is let in

    @Test(
        "a phone lets the agent in, with and without a descriptor to subscribe with (MAG 8.2, MAG 8.4)",
        arguments: Transport.allCases)
    func agentLetIn(_ transport: Transport) async throws {
        for step in ["by-android", "by-iphone"] {
            let login = try await during(step, transport)
            let request = try #require(login.phone("request").first, "\(step)")
            #expect(request["document"]?["device_name"]?.string == "board")
            #expect(request["longest"]?.integer == 20)
            #expect(login.observed("authorize") == [0])
            #expect(login.observed("login") == [0], "\(step)")
            #expect(login.events("proximity.login-succeeded").first?["user"]?.string == "alice", "\(step)")
            #expect(login.lines.first { $0["loggedIn"]?.bool == true }?["userName"]?.string == "alice")
            #expect(login.observed("logout") == [0])
        }
        #expect(try await during("by-iphone", transport).phone("subscribed").first?["notify"]?.bool == true)
        #expect(try await during("by-android", transport).phone("subscribed").isEmpty)
    }

    @Test(
        "a phone takes the agent through the states of the central, in order (MAG 8.6)", arguments: Transport.allCases)
    func centralStates(_ transport: Transport) async throws {
        for (step, last) in [("by-android", 8), ("by-iphone", 8), ("by-declining-iphone", 9)] {
            let login = try await during(step, transport)
            // A connection that did not come about is tried again.
            guard login.events("proximity.device-failed").isEmpty else { continue }
            // Who is let in is told before the connection has ended.
            #expect(login.states == [0, 2, 1, 3, 5, 6, 7] + (last == 8 ? [8, 4] : [4, 9]), "\(step)")
        }
    }

    @Test("a phone that answers 1 makes the login fail with the numbers of MAG 8.6", arguments: Transport.allCases)
    func declined(_ transport: Transport) async throws {
        let login = try await during("by-declining-iphone", transport)
        #expect(login.phone("sent").map { $0["value"]?.string } == ["1"])
        #expect(login.observed("login") == [76])
        let failure = try #require(login.events("proximity.login-failed").first)
        #expect(failure["code"]?.string == "proximity.authorization-failed")
        #expect(failure["error_android"]?.integer == 121)
        #expect(failure["error_ios"]?.integer == 650_002)
        #expect(login.events("proximity.login-succeeded").isEmpty)
    }

    @Test("a phone leaves an agent that ends when it is told to", arguments: Transport.allCases)
    func ended(_ transport: Transport) async throws {
        #expect(try await during("ended", transport).observed("agent") == [0])
    }
}

/// What was logged while a phone made one exchange.
struct Exchange {
    let lines: [JSON]

    /// What the phone noted.
    func phone(_ event: String) -> [JSON] { lines.filter { $0["phone"] != nil && $0["event"]?.string == event } }
    /// What the agent told.
    func events(_ name: String) -> [JSON] { lines.filter { $0["phone"] == nil && $0["event"]?.string == name } }

    func observed(_ name: String) -> [Int64] {
        lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == name }.compactMap {
            $0["value"]?.integer
        }
    }

    /// The numbers that the agent's events have in the reference clients.
    var states: [Int64] { lines.compactMap { $0["state_android"]?.integer } }
    /// What the lab knew at the end.
    var state: JSON? { lines.last { $0["event"]?.string == "lab" }?["state"] }
    /// What the phone wanted to have authorized.
    var url: String? { lines.first { $0["event"]?.string == "ordered" }?["url"]?.string }
}
