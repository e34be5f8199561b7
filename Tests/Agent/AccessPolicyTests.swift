import Foundation
import Glibc
import LocalAPI
import Testing

@testable import Agent
@testable import AgentCore

/// One at a time, as `getgrnam` answers everybody in one place.
@Suite("Access to the local API by the settings", .serialized)
struct AccessPolicyTests {
    private func settings(_ change: (inout APISettings) -> Void) -> APISettings {
        var settings = APISettings()
        change(&settings)
        return settings
    }

    @Test("root and the agent's own user may do everything")
    func owners() throws {
        #expect(try AccessPolicy(APISettings()).owners == [0, getuid()])
    }

    @Test("names of users and, after an @, of groups become numbers, for each permission its own")
    func names() throws {
        let policy = try AccessPolicy(
            settings {
                $0.read = ["root", "@root", "@daemon"]
                $0.publish = ["daemon"]
                $0.operate = []
                $0.group = "daemon"
            })
        let daemon = try #require(getpwnam("daemon")).pointee.pw_uid
        let group = try #require(getgrnam("daemon")).pointee.gr_gid
        #expect(policy.grants[.read] == .init(users: [0], groups: [0, group]))
        #expect(policy.grants[.publish] == .init(users: [daemon]))
        #expect(policy.grants[.operate] == .init())
        #expect(policy.socketGroup == group)
    }

    @Test("a name that this machine does not know is refused and told", arguments: ["nobody-knows", "@nobody-knows"])
    func unknown(name: String) {
        #expect(throws: ConfigurationError.unknownPeer(name: name)) {
            try AccessPolicy(settings { $0.operate = [name] })
        }
    }

    @Test("a socket group that this machine does not know is refused")
    func unknownSocketGroup() {
        #expect(throws: ConfigurationError.unknownPeer(name: "@nobody-knows")) {
            try AccessPolicy(settings { $0.group = "nobody-knows" })
        }
    }

    @Test("the package's own group may be missing, as on a machine where the agent was only built")
    func ownGroup() throws {
        let policy = try AccessPolicy(settings { $0.group = "" })
        let group = getgrnam("latchkey").map { $0.pointee.gr_gid }
        #expect(policy.grants[.read] == .init(groups: group.map { [$0] } ?? []))
        #expect(policy.socketGroup == nil)
    }
}
