import Foundation
import TestSupport
import Testing

/// Logins whose browser runs on the board, so that the command gets the answer itself (RFC 8252 section 7.3).
extension OAuthServerTests {
    /// What a login shows: where to log in, and where that ends.
    private func shown(_ logIn: RunningProgram) async throws -> (url: String, redirectURI: String) {
        _ = try await logIn.errors.line(containing: "Open this address")
        let line = try await logIn.errors.line(containing: "/auth?")
        let url = line.trimmingCharacters(in: .whitespaces)
        let query = URLComponents(string: url)?.queryItems
        return (url, try #require(query?.first { $0.name == "redirect_uri" }?.value))
    }

    /// What a browser of the board shows.
    private func open(_ address: String) async throws -> String {
        let result = try await Program(url: URL(filePath: "/usr/bin/curl")).run(["-sS", "-m", "150", "-g", address])
        guard result.status == 0 else { throw Unexpected("\(address): \(result.errors)") }
        return result.output
    }

    /// Tells the server where browsers may end. This one compares all of it, also the port.
    private func allow(_ redirectURI: String, at server: Server) async throws {
        let change = try JSONSerialization.data(withJSONObject: ["redirect_uri": [redirectURI]])
        _ = try await Self.ask("client", server.folder.path, "code-board", String(decoding: change, as: UTF8.self))
    }

    @Test("an OAuth login by a browser of the board ends at the command, and another login's answer ends nothing")
    func loopback() async throws {
        try await withServerAndBoard { server, board in
            try await add("web", at: server, client: "code-board", "--scope", "openid orders", to: board)
            let logIn = try board.follow("login", "--account", "web")
            let place = try await shown(logIn)
            #expect(place.redirectURI.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/callback/) != nil)
            try await allow(place.redirectURI, at: server)
            let end = try await server.agree(place.url)
            #expect(end.hasPrefix(place.redirectURI + "?"))

            #expect(try await open(place.redirectURI).contains("Not here"))
            #expect(try await open(place.redirectURI + "?code=c&state=s").contains("this page can be closed"))
            _ = try await logIn.errors.line(containing: "answer to another login")
            #expect(try await open(end).contains("this page can be closed"))
            #expect(try await logIn.ended() == 0, "\(logIn.errors.text)")
            #expect(try claims(try await token("web", of: board))["client_id"] as? String == "code-board")
        }
    }

    @Test("an OAuth login uses the port of its redirect URI, again and again, also over IPv6")
    func fixedPort() async throws {
        try await withServerAndBoard { server, board in
            for (name, host) in [("four", "127.0.0.1"), ("six", "[::1]")] {
                let redirectURI = "http://\(host):\(try UnusedPort.reserve())/done"
                try await allow(redirectURI, at: server)
                try await add(
                    name, at: server, client: "code-board", "--scope", "openid", "--redirect-uri", redirectURI,
                    to: board)
                for _ in 0..<2 {
                    let logIn = try board.follow("login", "--account", name)
                    let place = try await shown(logIn)
                    #expect(place.redirectURI == redirectURI)
                    #expect(try await open(try await server.agree(place.url)).contains("this page can be closed"))
                    #expect(try await logIn.ended() == 0, "\(logIn.errors.text)")
                }
                #expect(try claims(try await token(name, of: board))["client_id"] as? String == "code-board")
            }
        }
    }
}
