import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("The command line of a board", .timeLimit(.minutes(15)))
struct CommandLineTests {
    static let needsRegistration = [
        ["publish", "door", "open"], ["subscribe"], ["token"], ["renew"], ["call", "GET", "/lab/hello"],
        ["deregister", "--yes"],
    ]

    @Test("the command line has one text and one exit status for a board that is not registered")
    func notRegistered() async throws {
        try await withLabAndBoard { lab, board in
            for arguments in Self.needsRegistration {
                let result = try await run(arguments, board)
                #expect(result.status == 78, "\(arguments)")
                #expect(
                    result.errors.hasPrefix("latchkey: this board is not enrolled at a gateway\n"),
                    "\(arguments): \(result.errors)")
            }
            _ = try await board.enroll(at: lab)
            #expect(try await board.latchkey("reset", "--yes").status == 0)
            for arguments in Self.needsRegistration {
                let result = try await run(arguments, board)
                #expect(result.status == 78, "\(arguments)")
                #expect(
                    result.errors.hasPrefix("latchkey: this board is not registered at the gateway\n"),
                    "\(arguments): \(result.errors)")
            }
        }
    }

    @Test("the command line reports a local refusal with another status than the gateway's refusal")
    func refusedHere() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(try await board.latchkey("call", "GET", "lab/hello").status == 65)
            let foreign = try await board.latchkey("call", "GET", "https://evil.example/")
            #expect(foreign.status == 65)
            #expect(foreign.errors.contains("call a path of the gateway"))
            #expect(try await board.latchkey("call", "GET", "/lab/nothing").status == 76)
            let enrollment = try await board.latchkey(
                "enroll", "-", input: "http://localhost/connect/device/config?subjectKeyHash=x\n")
            #expect(enrollment.status == 65)
            #expect(enrollment.errors.contains("it must start with https://"))
            #expect(!enrollment.errors.contains("openapi"))
        }
    }

    @Test("the command line has one status for a file that cannot be read")
    func unreadable() async throws {
        let program = Program(name: "latchkey")
        let checked = try await program.run(["config", "check", "/nope"])
        let run = try await program.run(["run", "--config", "/nope"])
        #expect(checked.status == 78 && run.status == 78)
        #expect(checked.errors == run.errors)
    }

    @Test("the command line says what is wrong with the daemon's command as with any other, and helps with it")
    func runMisused() async throws {
        let program = Program(name: "latchkey")
        let refused = try await program.run(["run", "--colour", "red"])
        #expect(refused.status == 64)
        #expect(refused.errors.hasPrefix("latchkey: Unknown option '--colour'\n"), "\(refused.errors)")
        #expect(refused.errors.contains("latchkey run"), "\(refused.errors)")
        let help = try await program.run(["run", "--help"])
        #expect(help.status == 0 && help.output.contains("USAGE: latchkey run "), "\(help.output)")
        #expect(help.output == (try await program.run(["help", "run"]).output))
    }

    @Test("the command line does not remove an identity without a terminal and without --yes")
    func unconfirmed() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            for command in ["reset", "deregister"] {
                let result = try await board.latchkey(command, input: "y\n")
                #expect(result.status == 64)
                #expect(result.errors.contains("--yes"))
            }
            #expect(try await board.status().registration.state == "registered")
        }
    }

    @Test("the command line finds the definitions of a daemon started by hand with LATCHKEY_SOCKET only")
    func board() async throws {
        let board = try TestBoard()
        try await board.start()
        let program = Program(name: "latchkey")
        func ask(_ arguments: String...) async throws -> Program.Result {
            try await program.run(arguments, environment: ["LATCHKEY_SOCKET": board.socket, "LATCHKEY_CONFIG": ""])
        }
        let list = try await ask("board", "list")
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.output.split(separator: "\n").contains { $0.hasPrefix("simulated") && $0.hasSuffix("this board") })
        let check = try await ask("board", "check")
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.output.contains("simulated"))
        #expect(!check.output.split(separator: "\n").contains { $0.hasSuffix(" ") })
        #expect(try await ask("board", "check", "simulated").status == 0)
        try await board.tearDown()
    }

    @Test("the command line quotes a topic as it was written, and refuses an empty one")
    func topics() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let wildcard = try await board.latchkey("publish", "a/#", "x")
            #expect(wildcard.status == 65)
            #expect(wildcard.errors.contains("\"a/#\"") && !wildcard.errors.contains("/2.0/client"))
            #expect(try await board.latchkey("publish", "", "x").status == 65)
            #expect(try await board.latchkey("publish", "--lines", "", input: "x\n").status == 65)
            #expect(try await board.latchkey("subscribe", "", "--count", "1").status == 65)
        }
    }

    @Test("the command line shows received topics in their published form, and full ones with --raw")
    func shortTopics() async throws {
        try await withLabAndBoard { lab, board in
            let enrolled = try await board.enroll(at: lab)
            let device = try #require(enrolled.registration.deviceID)
            _ = try await board.status { $0.isConnected }
            for (filter, shown) in [
                (["greeting"], "greeting  hello"),
                (
                    ["--raw", "/2.0/client/devices/\(device)/custom/greeting"],
                    "/2.0/client/devices/\(device)/custom/greeting  hello"
                ),
            ] {
                let reader = try RunningProgram(
                    Program(name: "latchkey").url,
                    ["subscribe", "--count", "1", "--socket", board.socket] + filter)
                _ = try await reader.errors.line(containing: "subscribed")
                #expect(try await board.latchkey("publish", "greeting", "hello").status == 0)
                #expect(try await reader.ended() == 0)
                #expect(reader.output.text == shown + "\n")
            }
        }
    }

    @Test("the command line reports that another agent is running, instead of its directory's mode")
    func secondAgent() async throws {
        let board = try TestBoard()
        try await board.start()
        let second = try await Program(name: "latchkey").run(["run", "--config", board.configuration.path])
        #expect(second.status == 78)
        #expect(second.errors.contains("another agent is running here"))
        #expect(!second.errors.contains("0700"))
        try await board.tearDown()
    }

    @Test("the command line summarizes the checks of the doctor, and counts skipped ones separately")
    func doctor() async throws {
        let board = try TestBoard()
        try await board.start()
        let report = try await board.latchkey("doctor").output.split(separator: "\n")
        #expect(report.contains { $0.hasPrefix("skip  pin") })
        #expect(report.last?.contains("checks: ") == true && report.last?.contains("skipped") == true)
        try await board.tearDown()
    }

    private func run(_ arguments: [String], _ board: TestBoard) async throws -> Program.Result {
        try await Program(name: "latchkey").run(arguments + ["--socket", board.socket])
    }
}
