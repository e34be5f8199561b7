import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

@Suite("The main job", .timeLimit(.minutes(15)))
struct MainJobTests {
    @Test("a board gets from an enrollment URL to a reading at the broker, and status shows it")
    func enrollToReading() async throws {
        try await withLabAndBoard(settings: "[telemetry]\ntopic = \"readings\"") { lab, board in
            let arrivals = lab.arrivals.subscribe()
            let start = Date()
            let enrolled = try await board.enroll(at: lab)
            #expect(enrolled.registration.state == "registered")
            let device = try #require(enrolled.registration.deviceID)

            let reading = try await Acceptance.within(180, "a reading at the broker") {
                for await message in arrivals where message.topic.hasSuffix("/custom/readings") { return message }
                throw Unexpected("the broker's messages ended")
            }
            #expect(reading.topic == "/2.0/client/devices/\(device)/custom/readings")
            let telemetry = try #require(
                try JSONSerialization.jsonObject(with: Data(reading.payload)) as? [String: Any])
            let names = try #require(telemetry["readings"] as? [[String: Any]]).compactMap { $0["name"] as? String }
            #expect(names.contains { $0.contains("memory") })
            let milliseconds = try #require(telemetry["time"] as? Double)
            #expect((start - 60...Date() + 1).contains(Date(timeIntervalSince1970: milliseconds / 1000)))

            let status = try await board.status {
                $0.isConnected && $0.outbox?.depth == 0
            }
            #expect(status.registration.state == "registered")
            #expect(status.registration.magIdentifier == (await lab.devices().first?.magIdentifier))
            #expect(status.certificate?.daysLeft == 364)
            #expect(try Double(#require(status.token?.age)) <= Date().timeIntervalSince(start))
            #expect(try #require(status.outbox?.delivered) > 0)
            #expect(try await board.latchkey("status").output.contains("registered"))
        }
    }

    @Test("readings that a program hands in are shown, counted and published as those of a sensor")
    func handedReadings() async throws {
        try await withLabAndBoard(settings: "[telemetry]\ntopic = \"readings\"") { lab, board in
            func report(_ words: String...) async throws -> Program.Result {
                try await Program.shipped.run(["board", "report"] + words + ["--socket", board.socket])
            }
            // Without an account it is shown all the same.
            #expect(try await report("well.level", "2.31", "--unit", "m").output.contains("not published"))
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            #expect(try await report("well.level", "2.31", "--unit", "m").output == "accepted\n")
            #expect(try await report("door.open", "--missing").output == "accepted\n")
            let found = try await Acceptance.within(180, "the program's reading at the broker") {
                for await message in arrivals where message.topic.hasSuffix("/custom/readings") {
                    let text = String(decoding: message.payload, as: UTF8.self)
                    if text.contains("door.open") { return text }
                }
                throw Unexpected("the broker's messages ended")
            }
            #expect(found.contains(#"{"name":"door.open","quality":"bad","unit":"count","value":null}"#))
            #expect(
                try await board.latchkey("metrics").output
                    .contains(#"latchkey_sensor_meters{sensor="well.level"} 2.31"#))
            // What is wrong is named, and nothing of the request is taken.
            for (name, unit, fault) in [
                ("Well", "m", "1 to 64 of"), ("system.memory-available", "B", "is a sensor of the board's definition"),
                ("well.level", "furlong", "is not one of Cel"),
            ] {
                let refused = try await report(name, "1", "--unit", unit)
                #expect(refused.status == 64)
                #expect(refused.errors.contains(fault), "\(refused.errors)")
            }
        }
    }

    @Test("the broker retains the board's presence: online, and offline after it stopped")
    func presence() async throws {
        try await withLabAndBoard { lab, board in
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await board.stop()
            let presence = try await Acceptance.within(180, "the word that the board is offline") {
                var seen: [String] = []
                for await message in arrivals where message.topic.hasSuffix("/custom/status") {
                    seen.append(
                        String(decoding: message.payload, as: UTF8.self) + (message.retained ? " retained" : ""))
                    if seen.last?.hasPrefix("offline") == true { return seen }
                }
                return seen
            }
            #expect(presence == ["online retained", "offline retained"])
        }
    }

    @Test("every check of the doctor passes on a working board, except for development settings")
    func doctor() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let report = try await board.ask("doctor")
            let checks = try #require(report["checks"] as? [[String: Any]])
            #expect(
                checks.compactMap { $0["name"] as? String } == [
                    "clock", "vault", "storage", "tpm", "token", "vault-rollback", "passcode", "default-document",
                    "weak-settings", "network", "dns", "gateway", "pin", "device-certificate-dates", "device-key",
                    "first-boot", "certificates", "location", "accounts",
                    "session-lock",
                    "oauth-accounts", "mpin", "broker", "outbox", "sensors", "gpio", "data-budget",
                    "home-assistant", "bluetooth", "consent", "api-listener",
                ])
            let verdicts = Dictionary(
                uniqueKeysWithValues: checks.map { ($0["name"] as? String ?? "", $0["verdict"] as? String ?? "") })
            #expect(verdicts.filter { !["pass", "skip"].contains($0.value) } == ["vault": "warn", "gpio": "warn"])
            await lab.suspend()
            await lab.stopBroker()
            _ = try await board.status { !$0.isConnected }
            let sick = try await board.latchkey("doctor")
            #expect(sick.status == 1)
            #expect(sick.output.contains("fail  gateway"))
        }
    }

    @Test("without a daemon every subcommand says so and how to start it")
    func noDaemon() async throws {
        let program = Program(name: "latchkey")
        let result = try await program.run(["status", "--socket", "/tmp/latchkey-nobody.sock"])
        #expect(result.status == 69)
        // A socket that is not the service's belongs to a daemon started by hand.
        #expect(result.errors.contains("latchkey run --config FILE"))
        let json = try await program.run(["publish", "a", "b", "--json", "--socket", "/tmp/latchkey-nobody.sock"])
        #expect(json.status == 69)
        #expect(json.errors.contains(#""code":"local-api.daemon-not-running""#))
    }

    @Test("a second daemon on the same state directory refuses to start")
    func secondDaemon() async throws {
        let board = try TestBoard()
        try await board.start()
        let second = try await Program(name: "latchkey").run(
            ["run", "--config", board.configuration.path])
        #expect(second.status == 78 || second.status == 1)
        #expect(second.errors.contains("another agent is using it"))
        try await board.tearDown()
    }
}
