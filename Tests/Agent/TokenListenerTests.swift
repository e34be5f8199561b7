import Foundation
import Glibc
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentListener

@Suite("The listener of the local API")
struct TokenListenerTests {
    private static let good = "0123456789abcdef0123456789abcdef"

    private func listener(
        _ token: String = good, mode: Int = 0o600, credential: Bool = false,
        _ change: (inout APISettings) -> Void = { _ in }
    ) throws -> TokenListener {
        try withFolder { folder in
            let path = "\(folder)/token"
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(token.utf8), attributes: [.posixPermissions: mode])
            var settings = APISettings()
            settings.listen = "127.0.0.1:9464"
            if credential {
                settings.tokenCredential = "token"
            } else {
                settings.tokenFile = path
            }
            change(&settings)
            return try TokenListener(settings, environment: credential ? ["CREDENTIALS_DIRECTORY": folder] : [:])
        }
    }

    @Test("the listener of the local API takes its token from a file for the agent alone, or a credential")
    func token() throws {
        #expect(try listener(Self.good + "\n").token == Self.good)
        #expect(try listener(mode: 0o440, credential: true).token == Self.good)
        #expect(try listener().weaknesses.isEmpty)
        #expect(try listener(String(Self.good.prefix(16))).weaknesses.first?.contains("16 characters") == true)
        for (token, mode) in [(Self.good, 0o640), ("", 0o600), ("0123456789abcde\n", 0o600), (Self.good + " x", 0o600)]
        {
            #expect(throws: ListenerError.self, "\(token) \(mode)") { try listener(token, mode: mode) }
        }
        #expect(throws: ListenerError.self) { try listener { $0.tokenFile = "/nowhere" } }
        #expect(throws: ListenerError.self) { try listener { $0.tokenFile = "" } }
    }

    @Test("the listener of the local API takes loopback, or one other address if named, which is a weakness")
    func address() throws {
        let other = "192.0.2.7:9464"
        #expect(throws: ListenerError.beyondLoopback(other)) { try listener { $0.listen = other } }
        let wide = try listener {
            $0.listen = other
            $0.listensBeyondLoopback = true
        }
        #expect(wide.weaknesses.first?.contains("plain text") == true)
        func keys(_ toml: String) -> [String] {
            do {
                _ = try AgentConfiguration(toml: "[api]\n\(toml)\n", path: "t.toml", of: Features.all)
                return []
            } catch .faults(_, let faults) {
                return faults.map(\.keyPath)
            } catch {
                return ["\(error)"]
            }
        }
        #expect(keys("listen = \"127.0.0.1:9464\"\nnames = [\"board\"]").isEmpty)
        #expect(keys("listen = \"\(other)\"\nbeyond_loopback = true").isEmpty)
        for wrong in [other, "0.0.0.0:9464", "localhost:9464", "9464"] {
            #expect(keys("listen = \"\(wrong)\"") == ["api.listen"], "\(wrong)")
        }
        #expect(keys("listen = \"0.0.0.0:9464\"\nbeyond_loopback = true") == ["api.listen"])
    }

    @Test("the listener of the local API gives the token's holder the rights of an ordinary user")
    func user() throws {
        let daemon = try #require(try listener { $0.tokenUser = "daemon" }.user)
        #expect(daemon.uid != 0 && daemon.groups.contains(getgrnam("daemon").pointee.gr_gid))
        #expect(throws: ListenerError.self) { try listener { $0.tokenUser = "root" } }
        #expect(throws: ListenerError.self) { try listener { $0.tokenUser = "nobody-knows" } }
    }
}
