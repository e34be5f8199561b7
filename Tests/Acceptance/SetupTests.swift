import Foundation
import TestSupport
import Testing

/// `latchkey setup`, by a file of answers and as a person types them.
@Suite("Setting a board up", .timeLimit(.minutes(8)))
struct SetupTests {
    @Test("a file of answers sets a board up at a broker, shows what arrived, and does nothing the second time")
    func answers() async throws {
        try await BrokerAccountTests().withBoard { board, folder in
            let broker = try await OtherBroker(in: folder, users: ["board": "right horse"])
            let (answers, password) = (folder.appending(path: "answers.toml"), folder.appending(path: "secret"))
            try "right horse\n".write(to: password, atomically: true, encoding: .utf8)
            try """
            broker = "mqtt://\(broker.address)"
            user = "board"
            password_file = "\(password.path)"
            client_id = "pump"
            topics = "sites/{device}/{name}"
            """.write(to: answers, atomically: true, encoding: .utf8)
            let done = try await board.latchkey("setup", "--answers", answers.path)
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output.contains("sites/pump/telemetry  {\"readings\""), "\(done.output)")
            let again = try await board.latchkey("setup", "--answers", answers.path)
            #expect(again.status == 0 && again.output.contains("set up already"), "\(again.output)\(again.errors)")
            #expect(try await board.ask("setup", "--answers", answers.path)["done"] as? Bool == true)
        }
    }

    @Test("answers that a broker refuses leave nothing, and those of an absent broker stay")
    func refusals() async throws {
        try await BrokerAccountTests().withBoard { board, folder in
            let broker = try await OtherBroker(in: folder, users: ["board": "right horse"])
            let answers = folder.appending(path: "answers.toml")
            try "broker = \"mqtt://\(broker.address)\"\n".write(to: answers, atomically: true, encoding: .utf8)
            let refused = try await board.latchkey("setup", "--answers", answers.path, "--json")
            #expect(refused.errors.contains("setup.broker-refuses"), "\(refused.errors)")
            #expect(try await board.latchkey("accounts", "show", "home").status != 0)

            try "broker = \"a\"\nissuer = \"b\"\nbroken = 1\n".write(to: answers, atomically: true, encoding: .utf8)
            let broken = try await board.latchkey("setup", "--answers", answers.path, "--json")
            #expect(broken.errors.contains("exactly one of"), "\(broken.errors)")
            let silent = try await board.latchkey("setup", "--json", input: "")
            #expect(silent.errors.contains("usage.invalid"), "\(silent.errors)")

            try await broker.program.stop()
            try "broker = \"mqtt://\(broker.address)\"\n".write(to: answers, atomically: true, encoding: .utf8)
            let away = try await board.latchkey("setup", "--answers", answers.path)
            #expect(away.errors.contains("not connected yet"), "\(away.errors)")
            #expect(try await board.latchkey("accounts", "show", "home").status == 0)
        }
    }

    @Test(
        "a person answers at a terminal: TLS is not there, the password is wrong, then a reading arrives",
        arguments: ["", ":1883"])
    func terminal(port: String) async throws {
        try await BrokerAccountTests().withBoard { board, folder in
            let broker = try await OtherBroker(in: folder, users: ["board": "right horse"])
            let terminal = try TerminalProgram(Program(name: "latchkey").url, ["setup", "--socket", board.socket])
            func answer(_ question: String, _ text: String) async throws {
                try await terminal.shows(question)
                terminal.type(text + "\n")
            }
            try await answer("Number [1]: ", "1")
            try await answer("such as broker.lan: ", broker.address + port)
            try await answer("if the broker wants one: ", "stranger")
            try await answer("Password of stranger: ", "wrong horse")
            try await answer("Connect without it?", "y")
            try await terminal.shows("It does not work: broker \(broker.address):1883 refuses the connection")
            terminal.type("board\n")
            try await answer("Password of board: ", "right horse")
            try await terminal.shows("It works.")
            #expect(try await terminal.ended() == 0)
            #expect(!terminal.screen.text.contains("horse"), "a password is on the screen")
        }
    }
}
