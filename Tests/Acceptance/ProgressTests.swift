import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Progress of long work", .timeLimit(.minutes(15)))
struct ProgressTests {
    private let program = Program(name: "latchkey").url

    private func onTerminal(_ board: TestBoard, _ arguments: [String]) throws -> TerminalProgram {
        try TerminalProgram(program, arguments + ["--socket", board.socket], columns: 200)
    }

    private func inPipe(_ board: TestBoard, _ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(program, arguments + ["--socket", board.socket])
    }

    /// Runs a command that is never answered in a pipe and, from then on, on a terminal, until that says so.
    private func compare(_ board: TestBoard, _ arguments: [String], says text: String) async throws {
        let piped = try inPipe(board, arguments)
        let shown = try onTerminal(board, arguments)
        try await shown.shows(text)
        // It began earlier, and has nothing to say.
        #expect(piped.errors.text.isEmpty && piped.output.text.isEmpty, "\(piped.errors.text)")
        shown.type(TerminalProgram.control.c)
        _ = try await shown.ended()
        try await piped.stop(SIGKILL)
    }

    @Test("the progress of a slow gateway request is shown on a terminal, and never in a pipe")
    func waiting() async throws {
        try await withLabAndBoard { lab, board in
            let hours = Fault.Kind.delay(milliseconds: 600_000)
            lab.inject(Fault(hours, at: .enrollment))
            try await compare(board, ["enroll", try await lab.mintEnrollmentURL()], says: "enrolling…")
            lab.clearFaults()
            _ = try await board.enroll(at: lab)
            lab.inject(Fault(hours, at: .renewal))
            lab.inject(Fault(hours, at: .hello))
            try await compare(board, ["renew"], says: "renewing the certificate…")
            try await compare(board, ["call", "/lab/hello"], says: "waiting for the answer…")
        }
    }

    @Test("the progress on a terminal is gone once the work is done")
    func cleared() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker()
            _ = try await board.status { !$0.isConnected }
            let piped = try inPipe(board, ["wait", "--for", "broker", "--for", "registered"])
            let shown = try onTerminal(board, ["wait", "--for", "broker", "--for", "registered"])
            try await shown.shows("waiting: broker (")
            try await lab.startBroker()
            #expect(try await shown.ended() == 0)
            let last = shown.screen.text.split(separator: "\r").last { !$0.allSatisfy(\.isWhitespace) }
            #expect(last?.contains("broker, registered: yes") == true && last?.contains("waiting") == false)
            #expect(try await piped.ended() == 0)
            #expect(piped.errors.text.isEmpty, "\(piped.errors.text)")
        }
    }

    @Test("the progress of a backlog shows how many messages still wait")
    func backlog() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker()
            _ = try await board.status { !$0.isConnected }
            for number in 1...3 { _ = try await board.ask("publish", "log", "\(number)") }
            let shown = try onTerminal(board, ["wait", "--for", "outbox-empty"])
            try await shown.shows("waiting: outbox-empty (")
            // Counted anew while it waits.
            let before = try #require(try await board.status().outbox?.depth)
            _ = try await board.ask("publish", "log", "more")
            let counts = (before + 1...before + 500).map { "(\($0) messages)" }
            _ = try await board.status { _ in counts.contains(where: shown.screen.text.contains) }
            try await lab.startBroker()
            #expect(try await shown.ended() == 0)
        }
    }

    @Test("the progress of an upload or download is its bytes, and is never in a file or pipe")
    func bytes() async throws {
        try await CallBoard.withUser { lab, board in
            let path = board.folder.appending(path: "firmware.bin").path
            let download = ["call", "/lab/file/6000000", "-o", path]
            let shown = try onTerminal(board, download)
            #expect(try await shown.ended() == 0)
            #expect(shown.screen.text.contains("of 5.7 MiB received …"), "\(shown.screen.text)")
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 6_000_000)
            let upload = ["call", "/lab/upload", "-T", path]
            let sent = try onTerminal(board, upload)
            #expect(try await sent.ended() == 0)
            #expect(sent.screen.text.contains("of 5.7 MiB sent …"), "\(sent.screen.text)")
            for arguments in [download, upload] {
                let piped = try inPipe(board, arguments)
                #expect(try await piped.ended() == 0)
                #expect(piped.errors.text.isEmpty && !piped.output.text.contains("…"), "\(piped.errors.text)")
            }
        }
    }

    @Test("the progress of published lines is their number")
    func lines() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let shown = try onTerminal(board, ["publish", "log", "--lines"])
            try await shown.shows("Each line is a message")
            shown.type("one\ntwo\n")
            try await shown.shows("2 messages accepted …")
            shown.type("\(TerminalProgram.control.d)")
            #expect(try await shown.ended() == 0)
            let piped = try await board.latchkey("publish", "log", "--lines", input: "one\ntwo\n")
            #expect(piped.output == "2 messages accepted\n" && piped.errors.isEmpty, "\(piped.errors)")
        }
    }
}
