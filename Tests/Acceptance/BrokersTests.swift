import Cryptography
import Foundation
import TestSupport
import Testing

/// Brokers beside the gateway's, which the settings name, as programs use them.
@Suite("Brokers of the settings", .timeLimit(.minutes(8)))
struct BrokersTests {
    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = URL(filePath: "/tmp/lk-broker-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let started = StartedPrograms()
        defer { started.endAll() }
        try await StartedPrograms.$here.withValue(started) { try await body(folder) }
    }

    /// Gives `body` a started board, which is not enrolled anywhere.
    private static func withBoard(_ settings: String, _ body: (TestBoard) async throws -> Void) async throws {
        let board = try TestBoard(settings: settings)
        do {
            try await board.start()
            try await body(board)
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    @Test("several programs use one connection to a broker of the settings, made when the first needs it")
    func plain() async throws {
        try await Self.withFolder { folder in
            let broker = try await OtherBroker(in: folder)
            let settings = """
                [[brokers]]
                name = "plant"
                host = "\(broker.address)"
                tls = false
                client_id = "board"
                will_topic = "plant/board"
                will_payload = "gone"
                will_qos = 1
                """
            try await Self.withBoard(settings) { board in
                let observer = try await broker.observe("plant/#")
                #expect(try await board.latchkey("brokers").output.contains("stopped"))
                #expect(try await broker.connections(of: "board") == 0, "nothing is connected that nobody uses")

                let first = try await board.latchkey("publish", "--broker", "plant", "plant/state", "running")
                #expect(first.status == 0, "\(first.errors)")
                _ = try await observer.output.line(containing: "plant/state running")
                let kept = try await board.latchkey(
                    "publish", "--broker", "plant", "--retain", "--qos", "0", "plant/kept", "seven")
                #expect(kept.status == 0, "\(kept.errors)")
                let lines = try await board.latchkey(
                    "publish", "--broker", "plant", "--lines", "plant/lines", input: "one\ntwo\n")
                #expect(lines.output.contains("2 messages accepted"), "\(lines.errors)")
                _ = try await observer.output.line(containing: "plant/lines two")

                let reader = try board.follow("subscribe", "--broker", "plant", "plant/#")
                _ = try await reader.output.line(containing: "seven")
                try await broker.publish("stop", to: "plant/order")
                let order = try await reader.output.line(containing: "plant/order")
                #expect(order.contains("\"text\":\"stop\""), "\(order)")
                #expect(try await broker.connections(of: "board", atLeast: 1) == 1, "all of them share a connection")
                #expect(try await board.latchkey("brokers").output.contains("connected"))

                let told = try await board.ask("brokers", "disconnect", "plant")
                #expect(told["disconnected"] as? Bool == true)
                #expect(try await reader.ended() != 0)
                #expect(reader.errors.text.contains("broker.disconnected-here"), "\(reader.errors.text)")
                #expect(!observer.output.text.contains("gone"), "it took leave")

                let again = try await board.latchkey("publish", "--broker", "plant", "plant/state", "again")
                #expect(again.status == 0, "\(again.errors)")
                #expect(try await broker.connections(of: "board", atLeast: 2) == 2)
                try await board.stop(SIGKILL)
                _ = try await observer.output.line(containing: "plant/board gone")
            }
        }
    }

    @Test("a message that a broker of the settings cannot take is refused with the reason and not kept")
    func refused() async throws {
        try await Self.withFolder { folder in
            let broker = try await OtherBroker(in: folder)
            try await Self.withBoard(
                "[[brokers]]\nname = \"plant\"\nhost = \"\(broker.address)\"\ntls = false\n"
            ) { board in
                let unknown = try await board.latchkey("publish", "--broker", "other", "a", "x", "--json")
                #expect(unknown.status == 1)
                #expect(unknown.errors.contains("broker.unknown"))
                let topic = try await board.latchkey("publish", "--broker", "plant", "a/#", "x", "--json")
                #expect(topic.errors.contains("messaging.invalid-topic"))
                let mixed = try await board.latchkey("publish", "--broker", "plant", "--as", "user", "a", "x")
                #expect(mixed.status == 64)
                try await broker.program.stop()
                let gone = try await board.latchkey("publish", "--broker", "plant", "a", "x", "--json")
                #expect(gone.status == 75)
                #expect(gone.errors.contains("messaging.cannot-connect"), "\(gone.errors)")
                let list = try await board.ask("brokers")["brokers"] as? [[String: Any]]
                #expect(value(list?.first, "lastError", "code") as? String == "messaging.cannot-connect")
                let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
                #expect(!files.contains { $0.hasPrefix("outbox") })
            }
        }
    }

    @Test("a broker of the settings is reached over TLS with a password file; a wrong server or password is refused")
    func secure() async throws {
        try await Self.withFolder { folder in
            let (authority, stranger) = (try TestAuthority(), try TestAuthority("Another CA"))
            let broker = try await OtherBroker(in: folder, authority: authority, users: ["board": "right horse"])
            for (name, owner) in ["ca.pem": authority, "other.pem": stranger] {
                try owner.certificate.pem.write(
                    to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            let password = folder.appending(path: "password")
            try "wrong\n".write(to: password, atomically: true, encoding: .utf8)
            func settings(_ name: String, _ file: String) -> String {
                """
                [[brokers]]
                name = "\(name)"
                host = "\(broker.address)"
                certificates = ["\(folder.appending(path: file).path)"]
                user_name = "board"
                password_file = "\(password.path)"

                """
            }
            try await Self.withBoard(settings("plant", "ca.pem") + settings("stranger", "other.pem")) { board in
                let wrong = try await board.latchkey("publish", "--broker", "plant", "a", "x", "--json")
                #expect(wrong.status == 76)
                #expect(wrong.errors.contains("messaging.refused"), "\(wrong.errors)")
                try "right horse\n".write(to: password, atomically: true, encoding: .utf8)
                let reader = try board.follow("subscribe", "--broker", "plant", "--count", "1", "a")
                _ = try await broker.program.errors.line(containing: "Sending SUBACK")
                let right = try await board.latchkey("publish", "--broker", "plant", "a", "over TLS")
                #expect(right.status == 0, "\(right.errors)")
                #expect(try await reader.ended() == 0)
                #expect(reader.output.text.contains("over TLS"))

                let other = try await board.latchkey("publish", "--broker", "stranger", "a", "x", "--json")
                #expect(other.errors.contains("messaging.tls-refused"), "\(other.errors)")
                try FileManager.default.removeItem(at: password)
                let missing = try await board.latchkey("publish", "--broker", "stranger", "a", "x", "--json")
                #expect(missing.errors.contains("broker.password-unreadable"), "\(missing.errors)")
                #expect(board.daemon?.errors.text.contains("right horse") == false, "the log holds the password")
            }
        }
    }
}
