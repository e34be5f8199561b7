import Groundwork
import TestSupport
import Testing

/// Two boards beside each other for each transport: a has the button and is logged in, b is let in by it.
@Suite(
    "Proximity login between two boards",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct ProximityTests {
    private static let runs = Dictionary(
        uniqueKeysWithValues: Transport.allCases.map { transport in
            (
                transport,
                VirtualBoard.Run {
                    try await VirtualBoard.log(
                        of: "proximity", definition: "virtual-board", controllers: 2,
                        environment: ["TRANSPORT": transport.rawValue]
                    ) { definition in
                        // Longer than the pauses of an emulated processor between bounces, shorter than a press.
                        VirtualBoard.debouncing(VirtualBoard.withoutSensors(definition), milliseconds: 60)
                    }
                }
            )
        })

    private func log(_ transport: Transport) async throws -> VirtualBoard.Log {
        try await #require(Self.runs[transport]).value
    }

    private func during(_ step: String, _ transport: Transport) async throws -> [JSON] {
        try await log(transport).during(step)
    }

    /// The error that the command line of a step ended with.
    private func error(in lines: [JSON]) throws -> String {
        let codes = lines.compactMap { $0["error"]?["code"]?.string }
        return try #require(codes.last)
    }

    /// One check of the step's doctor.
    private func check(_ name: String, in lines: [JSON]) throws -> JSON {
        let checks = lines.compactMap { $0["checks"]?.array }.last ?? []
        return try #require(checks.first { $0["name"]?.string == name }, "the doctor told nothing of \(name)")
    }

    private func audit(_ transport: Transport) async throws -> [JSON] {
        let records = try await during("end", transport).compactMap { $0["records"]?.array }
        return try #require(records.last)
    }

    @Test("proximity login is not offered before a user is logged in (MAG 8.6: 103)", arguments: Transport.allCases)
    func stranger(_ transport: Transport) async throws {
        let stranger = try await during("stranger", transport)
        #expect(observed("share", in: stranger) == [1])
        #expect(try error(in: stranger) == "proximity.no-user-session")
        #expect(states(of: "a", in: stranger) == [])
    }

    @Test("proximity login lets the other board in after a press, and the lab knows", arguments: Transport.allCases)
    func granted(_ transport: Transport) async throws {
        let shared = try await during("shared", transport)
        #expect(observed("share", in: shared) == [0])
        #expect(states(of: "a", in: shared) == [12])

        let granted = try await during("granted", transport)
        #expect(observed("login", in: granted) == [0])
        #expect(observed("whoami", in: granted) == [0])
        #expect(granted.last { $0["loggedInAt"] != nil }?["userName"]?.string == "alice")
        let states = granted.compactMap { $0["state"] }
        let lab = try #require(states.last)
        let board = lab["devices"]?.array?.first { $0["name"]?.string == "board b" }
        #expect(board?["user"]?.string == "alice")
        #expect(board?["logged_in"]?.array == ["alice"])
        let texts = (lab["events"]?.array ?? []).compactMap { $0["text"]?.string }
        #expect(texts.contains("alice authorized a login from board a"))
        #expect(texts.contains("alice registered board b"))
    }

    @Test(
        "proximity login reports each step on both sides, in order and with its number (MAG 8.6)",
        arguments: Transport.allCases)
    func steps(_ transport: Transport) async throws {
        let granted = try await during("granted", transport)
        let login: [Int64] = [0, 2, 1, 3, 5, 6, 7, 8]
        #expect(states(of: "b", since: 0, in: granted) == login + [4])
        // The command may end before the connection has.
        #expect(states(of: "login", since: 0, in: granted).starts(with: login))
        #expect(events(of: "login", in: granted).last?["event"]?.string == "logged-in")
        #expect(states(of: "a", since: 10, in: granted) == [10, 14, 15, 11])
        #expect(try event("proximity.session-notified", of: "a", in: granted)["answer"]?.string == "0")
        #expect(try event("proximity.consent-asked", of: "a", in: granted)["name"]?.string == "board b")
    }

    @Test(
        "proximity login makes the LED blink while a device waits for consent, and only then",
        arguments: Transport.allCases)
    func light(_ transport: Transport) async throws {
        let changes = observed("led-changes", in: try await during("granted", transport))
        // The script leaves off at the fourth.
        #expect(changes == [0, 4])
    }

    @Test("proximity login is refused by a long press, and reported so", arguments: Transport.allCases)
    func refused(_ transport: Transport) async throws {
        let refused = try await during("refused", transport)
        #expect(observed("login", in: refused) == [76])
        #expect(try error(in: refused) == "proximity.user-declined")
        #expect(states(of: "b", since: 0, in: refused) == [0, 2, 1, 3, 5, 6, 7, 4, 9])
        #expect(try event("proximity.login-failed", of: "b", in: refused)["error_android"]?.integer == 121)
        let verdict = try event("proximity.session-not-authorized", of: "a", in: refused)
        #expect(verdict["code"]?.string == "proximity.user-declined")
        #expect(verdict["error_android"]?.integer == 121)
        #expect(verdict["error_ios"]?.integer == 650_012)
        #expect(try event("proximity.session-notified", of: "a", in: refused)["answer"]?.string == "2")
    }

    @Test(
        "proximity login is refused without an answer in time; a press before the question is not an answer",
        arguments: Transport.allCases)
    func silent(_ transport: Transport) async throws {
        let silent = try await during("silent", transport)
        #expect(count("button.released", of: "a", in: silent) == 1)
        #expect(try event("proximity.consent-answered", of: "a", in: silent)["decision"]?.string == "timed-out")
        #expect(observed("login", in: silent) == [76])
        #expect(try error(in: silent) == "proximity.user-declined")
    }

    @Test("proximity login treats a press on a bouncing button as one", arguments: Transport.allCases)
    func bouncing(_ transport: Transport) async throws {
        let bouncing = try await during("bouncing", transport)
        #expect(count("button.pressed", of: "a", in: bouncing) == 1)
        #expect(try event("proximity.consent-answered", of: "a", in: bouncing)["decision"]?.string == "granted")
        #expect(observed("login", in: bouncing) == [0])
        #expect(count("proximity.sharing-stopped", of: "a", in: bouncing) == 0)
    }

    @Test("proximity login ends sharing with a double press, which starts nothing new", arguments: Transport.allCases)
    func doubled(_ transport: Transport) async throws {
        let doubled = try await during("doubled", transport)
        #expect(count("button.pressed", of: "a", in: doubled) == 2)
        #expect(try event("proximity.consent-answered", of: "a", in: doubled)["decision"]?.string == "sharing-ended")
        #expect(observed("login", in: doubled) == [76])
        #expect(try error(in: doubled) == "proximity.user-declined")
        #expect(states(of: "a", in: doubled).contains(13))
        #expect(doubled.last { $0["policy"] != nil }?["sharing"]?.bool == false)
    }

    @Test("proximity login ends sharing with a double press even if no device waits", arguments: Transport.allCases)
    func unasked(_ transport: Transport) async throws {
        let unasked = try await during("unasked", transport)
        #expect(count("button.released", of: "a", in: unasked) == 2)
        #expect(states(of: "a", in: unasked) == [12, 13])
        #expect(unasked.last { $0["policy"] != nil }?["sharing"]?.bool == false)
    }

    @Test("proximity login keeps a record of every device that asked", arguments: Transport.allCases)
    func audit(of transport: Transport) async throws {
        let records = try await audit(transport)
        let decisions = records.map { $0["decision"]?.string }
        let logins = transport == .kernel ? 3 : 0
        #expect(
            decisions == ["granted", "refused", "timed-out"] + Array(repeating: "granted", count: 1 + logins)
                + ["sharing-ended"] + (transport == .bluez ? ["granted"] : []))
        for record in records {
            let isGranted = record["decision"]?.string == "granted"
            #expect(record["outcome"]?.string == (isGranted ? "authorized" : "refused"))
            #expect(record["by"]?.string == (record["decision"]?.string == "timed-out" ? nil : "button"))
            #expect(record["name"]?.string == "board b")
            #expect(record["way"]?.string == "ble")
        }
    }

    @Test("proximity login is offered again once Bluetooth is back", arguments: Transport.allCases)
    func returned(_ transport: Transport) async throws {
        let gone = try await during("gone", transport)
        let interruption = try event("proximity.sharing-interrupted", of: "a", in: gone)
        #expect(interruption["state_ios"]?.integer == -1)
        #expect(interruption["error_android"]?.integer == 100)
        let bluetooth = try check("bluetooth", in: gone)
        #expect(bluetooth["verdict"]?.string == "fail")
        #expect(
            bluetooth["message"]?.string
                == (transport == .kernel
                    ? "there is no Bluetooth adapter hci2" : "bluetoothd does not answer on the system bus"))
        #expect(
            bluetooth["remedy"]?.string?.contains(transport == .kernel ? "plug one in" : "start bluetooth.service")
                == true)

        let returned = try await during("returned", transport)
        #expect(states(of: "a", in: returned).first == 12)
        guard transport == .bluez else { return }
        #expect(observed("login", in: returned) == [0])
        #expect(observed("whoami", in: returned) == [0])
    }

    @Test("proximity login makes the doctor report obstacles, and what to do", arguments: Transport.allCases)
    func doctor(_ transport: Transport) async throws {
        let blocked = try check("bluetooth", in: try await during("blocked", transport))
        #expect(blocked["verdict"]?.string == "fail")
        #expect(blocked["message"]?.string == "Bluetooth adapter hci0 is blocked by rfkill")
        #expect(blocked["remedy"]?.string == "rfkill unblock bluetooth")

        let bare = try await during("bare", transport)
        #expect(try check("bluetooth", in: bare)["verdict"]?.string == "pass")
        let consent = try check("consent", in: bare)
        #expect(consent["verdict"]?.string == "fail")
        #expect(consent["message"]?.string == "this board shares after a press of its button, but has no button")
        #expect(consent["remedy"]?.string?.contains("name a button in the board definition") == true)
    }

    @Test("proximity login reports a button held down since before the start, and ignores its release")
    func stuck() async throws {
        let gone = try await during("gone", .kernel)
        #expect(try event("proximity.button-fault", of: "a", in: gone)["fault"]?.string == "stuck")
        let consent = try check("consent", in: gone)
        #expect(consent["verdict"]?.string == "warn")
        #expect(consent["message"]?.string == "the board's button cannot be used: it is stuck")
        #expect(count("button.pressed", of: "a", in: gone) == 0)
        let returned = try await during("returned", .kernel)
        #expect(count("proximity.button-recovered", of: "a", in: returned) > 0)
        #expect(count("proximity.sharing-stopped", of: "a", in: gone + returned) == 0)
    }

    @Test("proximity login makes the doctor report a missing permission, without bluetoothd")
    func unprivileged() async throws {
        let bluetooth = try check("bluetooth", in: try await during("unprivileged", .kernel))
        #expect(bluetooth["verdict"]?.string == "fail")
        #expect(bluetooth["message"]?.string?.hasPrefix("no permission to") == true)
        #expect(bluetooth["remedy"]?.string?.contains("CAP_NET_ADMIN") == true)
    }

    @Test("proximity login logs in five times in a row, and needs no more memory for it")
    func five() async throws {
        let kernel = try await log(.kernel)
        for step in ["granted", "bouncing", "third", "fourth", "fifth"] {
            #expect(observed("login", in: kernel.during(step)) == [0], "\(step)")
            #expect(observed("logout", in: kernel.during(step)) == [0], "\(step)")
        }
        let own = observed("own-kb", in: kernel.lines)
        #expect(own.count == 2)
        let growth = try #require(own.last) - #require(own.first)
        #expect(growth <= 3 * 1024, "\(own)")
    }
}
