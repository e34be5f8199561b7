import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Traces of a login by M-Pin", .timeLimit(.minutes(15)))
struct MPinSecrecyTests {
    private static let secrets = [MPinBoard.pin, MPinBoard.wrongPIN]

    /// Looks at the command line and the environment of every process that may be read.
    private func expectNoProcess(shows secrets: [String]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int32(name) != nil {
            for file in ["cmdline", "environ"] {
                // Another one may end meanwhile, or be another user's.
                guard let bytes = FileManager.default.contents(atPath: "/proc/\(name)/\(file)") else { continue }
                for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file) of \(name)") }
            }
        }
    }

    private func expectNoCore(of process: pid_t) throws {
        let filter = try String(contentsOfFile: "/proc/\(process)/coredump_filter", encoding: .utf8)
        #expect(filter.trimmingCharacters(in: .whitespacesAndNewlines) == "00000000")
        // What the kernel does with a process that it may not dump.
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(process)/mem")[.ownerAccountID]
        #expect((owner as? NSNumber)?.intValue == 0)
    }

    /// Types a secret at a prompt, and looks around before it is entered.
    private func type(_ secret: String, into program: TerminalProgram) throws {
        let arguments = try #require(FileManager.default.contents(atPath: "/proc/\(program.processIdentifier)/cmdline"))
        #expect(arguments.range(of: Data("mpin".utf8)) != nil, "the search sees the command")
        program.type(secret)
        try expectNoProcess(shows: Self.secrets)
        try expectNoCore(of: program.processIdentifier)
        program.type("\n")
    }

    @Test("a login by M-Pin leaves no PIN or code in arguments, environment, files, logs or core dumps")
    func nothing() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.succeeds(board, "mpin", "user", "new", "alice")
            let code = try await lab.issueMPinCode(for: "alice")
            let starting = try MPinBoard.terminal(board, "mpin", "register", "start", "--code-stdin")
            starting.type(code + "\n")
            try expectNoProcess(shows: [code])
            starting.type(TerminalProgram.control.d)
            #expect(try await starting.ended() == 0)
            try await MPinBoard.succeeds(board, "mpin", "register", "confirm")

            let finishing = try MPinBoard.terminal(board, "mpin", "register", "finish")
            try await finishing.shows("New PIN of alice")
            try type(MPinBoard.pin, into: finishing)
            try await finishing.shows("The same PIN again")
            try type(MPinBoard.pin, into: finishing)
            #expect(try await finishing.ended() == 0)

            let logIn = try MPinBoard.terminal(board, "mpin", "login")
            try await logIn.shows("PIN of alice")
            try type(MPinBoard.wrongPIN, into: logIn)
            try await logIn.shows("the PIN is wrong")
            try type(MPinBoard.pin, into: logIn)
            #expect(try await logIn.ended() == 0)

            let daemon = try #require(board.daemon)
            try expectNoProcess(shows: Self.secrets + [code])
            try expectNoCore(of: daemon.processIdentifier)
            // The board logs all that there is to log.
            _ = try await daemon.errors.line(containing: "mpin.user-did-log-in")
            for text in [daemon.errors.text, finishing.screen.text, logIn.screen.text] {
                for secret in Self.secrets + [code] { #expect(!text.contains(secret)) }
            }
            try await board.stop()
            try expectNoFile(in: board.folder, shows: Self.secrets + [code])
        }
    }

    private func expectNoFile(in folder: URL, shows secrets: [String]) throws {
        var files = 0
        for case let file as URL in FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey]) ?? .init()
        where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
            let bytes = try Data(contentsOf: file)
            for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)") }
            files += 1
        }
        #expect(files > 2, "the vault is among them")
    }
}
