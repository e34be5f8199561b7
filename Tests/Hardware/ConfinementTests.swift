import Foundation
import Groundwork
import TestSupport
import Testing

/// The shipped service on a board that systemd started: installed by `deploy/install`, and at work behind the
/// restrictions of its unit. One board is booted for all of these.
@Suite(
    "The service behind its unit's restrictions",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct ConfinementTests {
    /// The release build that `deploy/test --boards` makes; without one, this build's program.
    private static let release = ProcessInfo.processInfo.environment["LATCHKEY_RELEASE_BUILD"]

    /// Whether an agent beside it logs in as well: some minutes more, and a matter of the emulated radio.
    private static let nearby = ProcessInfo.processInfo.environment["LATCHKEY_CONFINED_LOGIN"]

    private static let run = VirtualBoard.Run {
        let program = release ?? VirtualBoard.programs.appendingPathComponent("latchkey").path
        return try await VirtualBoard.log(
            of: "confined", definition: "virtual-board", controllers: 2, systemd: true,
            environment: ["PROGRAM": program, "NEARBY": nearby ?? ""]
        ) { definition in
            definition + """

                [[sensor]]
                name = "system.disk-free"
                source = "system"
                channel = "disk-free"
                path = "/var"
                period-s = 5
                deadband = 1048576

                """
        }
    }

    func during(_ step: String) async throws -> [JSON] { try await Self.run.value.during(step) }

    /// What was seen from outside, in order.
    func observed(_ name: String, in lines: [JSON]) -> [Int64] {
        lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == name }.compactMap {
            $0["value"]?.integer
        }
    }

    /// What an event told under each name; the last where there are several.
    func noted(_ event: String, in lines: [JSON]) -> [String: String] {
        let pairs = lines.filter { $0["event"]?.string == event }.map {
            ($0["name"]?.string ?? "", $0["value"]?.string ?? "")
        }
        return Dictionary(pairs) { _, last in last }
    }

    private func worst(in lines: [JSON]) -> String? { lines.last { $0["checks"] != nil }?["worst"]?.string }

    /// What the kernel says of the daemon's process, and systemd of the service.
    private func expectConfined(_ lines: [JSON], capabilities: String = "0000000000000000") throws {
        let process = noted("process", in: lines)
        for kind in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            #expect(process[kind] == capabilities, "\(kind)")
        }
        #expect(process["NoNewPrivs"] == "1")
        #expect(process["Seccomp"] == "2")
        #expect(try Set(#require(process["Uid"]).split(separator: " ")).count == 1)
        #expect(process["Uid"]?.hasPrefix("0 ") == false)

        let shown = noted("shown", in: lines)
        let capability = capabilities.allSatisfy { $0 == "0" } ? "" : "cap_net_admin"
        #expect(
            shown.filter { $0.key != "NRestarts" } == [
                "User": "latchkey", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
                "NoNewPrivileges": "yes",
                "MemoryDenyWriteExecute": "yes", "RestrictNamespaces": "yes", "DevicePolicy": "closed",
                "WatchdogUSec": "3min", "MemorySwapMax": "0",
                "CapabilityBoundingSet": capability, "AmbientCapabilities": capability,
            ])
    }

    @Test("the confined service is installed by one command with every restriction, even after manual use by root")
    func started() async throws {
        let started = try await during("started")
        try expectConfined(started)
        #expect(noted("shown", in: started)["NRestarts"] == "0")
    }

    @Test("the confined service is refused what the unit forbids, even as root; outside, root may do all of it")
    func attempts() async throws {
        let confined = try await during("confined")
        #expect(observed("attempts", in: confined) == [0])
        func outcomes(_ place: String) -> [String: String] {
            noted("attempt", in: confined.filter { $0["where"]?.string == place })
        }
        let expected = [
            "write below /usr": "EROFS", "write its settings": "EROFS", "write to a driver": "EROFS",
            "set a kernel tunable": "EROFS", "make a control group": "EROFS", "list a home": "EACCES",
            "see the others' temporary files": "ENOENT", "see another process": "ENOENT", "open a serial line": "EPERM",
            "read the kernel's log": "EACCES", "open a packet socket": "EAFNOSUPPORT",
            "have memory that is written and executed": "EPERM", "ask for the kernel's log": "EPERM",
            "change its personality": "EPERM", "make a set-user-id program": "EPERM", "be traced": "EPERM",
            "make a user name space": "EPERM",
        ]
        #expect(outcomes("unit") == expected)
        #expect(outcomes("root") == expected.mapValues { _ in "allowed" })
    }

    @Test("the confined service opens its vault with systemd's credential, enrolls, and lights the LED")
    func enrolled() async throws {
        let enrolled = try await during("enrolled")
        #expect(observed("enroll", in: enrolled) == [0])
        #expect(observed("led", in: enrolled) == [1])
        #expect(observed("doctor", in: enrolled) == [0])
        #expect(worst(in: enrolled) == "pass")
        let checks = enrolled.last { $0["checks"] != nil }?["checks"]?.array ?? []
        let vault = checks.first { $0["name"]?.string == "vault" }
        #expect(vault?["message"]?.string == "opened by its systemd-credential")
    }

    @Test("the confined service publishes every kind of sensor, from hwmon and IIO to memory and disk")
    func readings() async throws {
        let lab = try #require(try await during("readings").last { $0["event"]?.string == "lab" }?["state"])
        let readings = (lab["messages"]?.array ?? []).compactMap { $0["payload"]?.string }
            .compactMap { try? JSON(parsing: $0.utf8) }.flatMap { $0["readings"]?.array ?? [] }
        for name in [
            "tmp75.temperature", "cpu.temperature", "bme280.pressure", "ds18b20.temperature", "system.load",
            "system.memory-available", "system.disk-free",
        ] {
            let own = readings.filter { $0["name"]?.string == name }
            #expect(own.contains { $0["quality"]?.string == "good" }, "\(name)")
        }
    }

    @Test("the confined service sees the button")
    func pressed() async throws {
        let events = try await during("pressed").compactMap { $0["event"]?.string }.filter { $0.hasPrefix("button.") }
        #expect(events == ["button.pressed", "button.released"])
    }

    @Test("the confined service sends readings again after a restart, and is as confined as before")
    func restarted() async throws {
        let restarted = try await during("restarted")
        try expectConfined(restarted)
        #expect(noted("shown", in: restarted)["NRestarts"] == "0")
    }

    @Test("a message starts a command by systemd's socket as a user of its own, in a sandbox of its own")
    func acted() async throws {
        let acted = try await during("acted")
        let run = try #require(self.run(of: "act", in: acted))
        #expect(run["status"]?.integer == 0 && run["verdict"]?.string == "done" && run["attempt"]?.integer == 1)
        let told = try JSON(parsing: (run["output"]?.string ?? "").utf8).object?.compactMapValues(\.string) ?? [:]
        #expect(told["payload"] == Hex.encode(Array("$(touch /run/trap); 'quoted\"\n".utf8)))
        #expect(told["arguments"] == "--fixed" && told["topic"] == "act")
        #expect(observed("trapped", in: acted) == [0])
        // Where systemd takes the users of DynamicUser= from.
        #expect(told["user"].flatMap { Int($0) }.map { (61_184...65_519).contains($0) } == true, "\(told)")
        #expect(told["unit"] == "latchkey-actions@")
        for kind in ["CapEff", "CapBnd"] { #expect(told[kind] == "0000000000000000") }
        #expect(told["NoNewPrivs"] == "1" && told["Seccomp"] == "2")
        let refused = [
            "list the agent's state": "EACCES", "connect to the agent": "EACCES", "ask for another command": "EACCES",
            "signal another process": "EPERM", "see another process": "ENOENT",
            "see the others' temporary files": "ENOENT", "list a home": "EACCES", "write below /usr": "EROFS",
            "change its personality": "EPERM", "make a user name space": "EPERM",
        ]
        #expect(told.filter { refused[$0.key] != nil } == refused)
        let outside = acted.first { $0["event"]?.string == "outside" }
        for attempt in refused.keys { #expect(outside?[attempt]?.string == "allowed", "\(attempt)") }
    }

    @Test("a command that a message started ends at its time limit with all it started, and keeps its output")
    func overdue() async throws {
        let acted = try await during("acted")
        let run = try #require(self.run(of: "slow", in: acted))
        #expect(run["timedOut"]?.bool == true && run["verdict"]?.string == "dead")
        #expect(run["signal"]?.integer == Int64(SIGKILL) && run["output"]?.string == "begun\n")
        #expect(observed("left", in: acted) == [0])
        // The runners themselves ended well, and the socket waits for the next.
        #expect(observed("runners", in: acted) == [0])
        #expect(noted("socket", in: acted)["ActiveState"] == "active")
    }

    /// The one run of an action, as the log of its runs has it.
    private func run(of action: String, in lines: [JSON]) -> JSON? {
        let logs = lines.compactMap { $0["runs"]?.array }
        return logs.first { $0.first?["topic"]?.string?.hasSuffix("/\(action)") == true }?.first
    }

    @Test("the confined service is restarted by systemd after kill -9, and sends readings again")
    func killed() async throws {
        let killed = try await during("killed")
        try expectConfined(killed)
        #expect(noted("shown", in: killed)["NRestarts"] == "1")
    }

    @Test("the confined service is ended by the watchdog when it hangs, and restarted")
    func hung() async throws {
        let hung = try await during("hung").filter { $0["event"]?.string == "journal" }
        let results = hung.compactMap { $0["value"]?.string }
        #expect(results.first == "signal")
        #expect(results.last == "watchdog")
    }

    @Test("the confined service shares over Bluetooth without bluetoothd, with the drop-in's one capability")
    func kernel() async throws {
        let kernel = try await during("kernel")
        // CAP_NET_ADMIN alone.
        try expectConfined(kernel, capabilities: "0000000000001000")
        try expectShared(kernel, through: "hci0 through kernel")
    }

    @Test("the confined service shares through bluetoothd, with the shipped bus policy and without a capability")
    func bluez() async throws {
        let bluez = try await during("bluez")
        try expectConfined(bluez)
        try expectShared(bluez, through: "hci0 through bluez")
    }

    @Test("the confined service is on the air again after bluetoothd crashed, by the shipped drop-in")
    func crashed() async throws {
        let crashed = try await during("crashed")
        let events = crashed.compactMap { $0["event"]?.string }
        let interrupted = try #require(events.firstIndex(of: "proximity.sharing-interrupted"))
        #expect(events[interrupted...].contains("proximity.sharing-started"))
        #expect(noted("bluetoothd", in: crashed)["NRestarts"] == "1")
    }

    private func expectShared(_ lines: [JSON], through adapter: String) throws {
        #expect(observed("share", in: lines) == [0])
        if Self.nearby != nil { #expect(observed("login", in: lines).last == 0) }
        #expect(worst(in: lines) == "pass")
        let checks = lines.last { $0["checks"] != nil }?["checks"]?.array ?? []
        #expect(checks.first { $0["name"]?.string == "bluetooth" }?["message"]?.string == adapter)
    }

    @Test(
        "the confined service ends cleanly when told to, and was denied nothing that it needs",
        .enabled(
            if: release != nil, "LATCHKEY_RELEASE_BUILD names no release build: that of a debug build asks for more"))
    func ended() async throws {
        let ended = try await during("ended")
        #expect(observed("stopped", in: ended) == [0])
        #expect(noted("shown", in: ended) == ["Result": "success", "ExecMainStatus": "0"])
        let complaints = ended.filter { $0["event"]?.string == "complaint" }.compactMap { $0["value"]?.string }
        #expect(complaints == [])
    }

    @Test("the confined service is removed with all of its files, its user and its group")
    func removed() async throws {
        let removed = try await during("removed")
        #expect(observed("purge", in: removed) == [0])
        #expect(removed.filter { $0["event"]?.string == "left" } == [])
    }
}
