import Foundation
import GatewayLab
import TestSupport
import Testing

/// The ways to log in that a person at a terminal begins, and ends on another device. Passwords are in `PromptTests`,
/// providers and pages in `LoginWaysTests`.
@Suite("Logging in at a terminal", .serialized, .timeLimit(.minutes(8)))
struct TerminalLoginTests {
    /// Wide, so that no address is broken.
    private func onTerminal(_ board: TestBoard, _ arguments: String...) throws -> TerminalProgram {
        try TerminalProgram(
            Program(name: "latchkey").url, ["login"] + arguments + ["--socket", board.socket], columns: 500)
    }

    /// The address below a QR code.
    private func address(_ program: TerminalProgram, _ scheme: String) async throws -> String {
        try await program.shows("\(scheme)://")
        try await program.shows("█")
        return String(try #require(program.screen.text.firstMatch(of: /https?:\/\/[^\s"]+/)?.0))
    }

    @Test("a login at a terminal is let in by a device that scans the code, or by a phone's browser")
    func codes() async throws {
        let settings = "[login]\npoll_delay_seconds = 0\npoll_seconds = 1\npoll_limit = 120"
        try await LoginWaysTests().withRegisteredBoard(settings: settings) { lab, board, browser in
            let scanned = try onTerminal(board, "--qr")
            try await lab.authorize(try await address(scanned, "https"), as: "alice")
            #expect(try await scanned.ended() == 0, "\(scanned.screen.text)")
            #expect(scanned.screen.text.contains("logged in as alice"))
            #expect(try await board.latchkey("logout").status == 0)

            let phone = try onTerminal(board, "--phone")
            try await phone.shows("Provider [enterprise]:")
            phone.type("\n")
            try await phone.shows("Scan the code with a phone")
            let end = try await browser.logIn(at: try await address(phone, "https"), as: "bob")
            #expect(end.address.hasPrefix("http://127.0.0.1:"))
            #expect(try await phone.ended() == 0, "\(phone.screen.text)")
            #expect(phone.screen.text.contains("logged in as bob"))
        }
    }

    @Test("a login at an OAuth server takes a code that is entered elsewhere, or a password typed without echo")
    func oauth() async throws {
        let servers = OAuthServerTests()
        try await servers.withServerAndBoard { server, board in
            try await servers.add(
                "cloud", at: server, client: "device-board", "--grant", "device_code", "--scope", "openid", to: board)
            let code = try onTerminal(board, "--account", "cloud")
            try await code.shows("enter the code")
            _ = try await server.agree(try await address(code, "http"))
            #expect(try await code.ended() == 0, "\(code.screen.text)")
            #expect(code.screen.text.contains("logged in as"))

            try await servers.add(
                "secret", at: server, client: "password-board", "--grant", "password", "--scope", "openid",
                secret: "password-secret", to: board)
            let typed = try onTerminal(board, "--account", "secret", "--user", "alice")
            try await typed.shows("Password of alice")
            typed.type("alice-password\n")
            #expect(try await typed.ended() == 0, "\(typed.screen.text)")
            #expect(!typed.screen.text.contains("alice-password"))
            #expect(try await board.latchkey("whoami", "--account", "secret").status == 0)
        }
    }
}
