import Foundation
import GatewayLab
import TestSupport
import Testing

/// Logins in Chromium on the board's own machine. `browser_login.py` is the person.
extension LoginWaysTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "browser_login.py").path

    @Test(
        "at the lab as it is shipped, a login in Chromium ends at the command by itself",
        arguments: ["--browser", "--page"])
    func chromium(way: String) async throws {
        try await withRegisteredBoard { _, board, _ in
            let logIn = try board.follow("login", way)
            _ = try await logIn.errors.line(containing: "A browser of this machine completes")
            let line = try await logIn.errors.line(containing: "https://")
            let address = line.trimmingCharacters(in: .whitespaces)
            let person = try await Program(url: URL(filePath: "/usr/bin/python3"))
                .run(["-B", Self.script, address, "alice"], seconds: 600)
            #expect(person.status == 0, "\(person.errors)")
            #expect(try await logIn.ended() == 0, "\(logIn.errors.text)")
            #expect(try await isLoggedIn(board))
        }
    }
}
