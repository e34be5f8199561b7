import Foundation
import Groundwork
import Testing

@testable import LocalAPI

@Suite("Access to the local API", .timeLimit(.minutes(5)))
struct AccessTests {
    private static let uid = getuid()
    private static let gid = getgid()

    @Test("access is refused to a user whom the policy does not name, with what to change")
    func refused() async throws {
        let served = try Served(
            policy: AccessPolicy(
                owners: [Self.uid + 1],
                grants: [
                    .read: .init(users: [Self.uid + 2], groups: [Self.gid + 1])
                ]))
        for (method, path, permission) in [
            ("GET", "/v1/peer", "read"), ("POST", "/v1/echo", "publish"), ("GET", "/v1/wait", "operate"),
        ] {
            let answer = try await served.ask(method, path)
            #expect(answer.status == 403 && answer.code == "local-api.access-denied")
            let user = try #require(getpwuid(Self.uid).map { String(cString: $0.pointee.pw_name) })
            #expect(
                answer.json?["error"]?["message"]?.string
                    == "user \(user) (uid \(Self.uid)) may not \(method) \(path): that needs the right \(permission)")
            #expect(answer.json?["error"]?["remedy"]?.string?.contains("to \(permission) of [api]") == true)
        }
        try await served.stop()
    }

    @Test("access is granted by independent permissions")
    func permissions() async throws {
        let served = try Served(policy: AccessPolicy(owners: [], grants: [.publish: .init(users: [Self.uid])]))
        #expect(try await served.ask("POST", "/v1/echo", body: "{}").status == 202)
        #expect(try await served.ask("GET", "/v1/peer").status == 403)
        #expect(try await served.ask("GET", "/v1/wait").status == 403)
        try await served.stop()
    }

    @Test("access is granted to a group of the program that connects")
    func groups() async throws {
        let served = try Served(policy: AccessPolicy(owners: [], grants: [.read: .init(groups: [Self.gid])]))
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        #expect(try await served.ask("POST", "/v1/echo", body: "{}").status == 403)
        try await served.stop()
    }

    @Test("access is judged by the peer's identity from the kernel")
    func peer() async throws {
        let served = try Served()
        #expect(
            try await served.ask("GET", "/v1/peer").json == [
                "uid": .integer(Int64(Self.uid)), "pid": .integer(Int64(getpid())),
            ])
        try await served.stop()
    }

    @Test("access of other users goes by their user, group and supplementary groups", .enabled(if: getuid() == 0))
    func otherUsers() async throws {
        // The socket's group lets them connect; the policy then tells them apart.
        let served = try Served(
            policy: AccessPolicy(
                owners: [0], grants: [.read: .init(users: [61_001], groups: [61_002, 61_003])], socketGroup: 61_000))
        let asked = { (uid: Int, groups: String) in
            try await OtherUser(uid: uid, gid: 61_000, groups: groups).status(of: "/v1/peer", at: served.path)
        }
        #expect(try await asked(61_001, "") == "200")
        #expect(try await asked(61_009, "") == "403")
        #expect(try await asked(61_009, "61002") == "200")
        #expect(try await asked(61_009, "61008,61003") == "200")
        #expect(
            try await OtherUser(uid: 61_001, gid: 61_001, groups: "").status(of: "/v1/peer", at: served.path) == "000",
            "who is not in the socket's group does not even connect")
        try await served.stop()
    }

    @Test("access to the socket is limited to its user and group")
    func socketMode() async throws {
        let served = try Served(policy: AccessPolicy(owners: [Self.uid], socketGroup: Self.gid))
        var status = stat()
        #expect(lstat(served.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o660)
        #expect(status.st_gid == Self.gid)
        try await served.stop()
    }
}
