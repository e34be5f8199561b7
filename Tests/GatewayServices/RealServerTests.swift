import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import Directories
@testable import GatewayServices

/// A server of SCIM that shares no code with this program or its lab: scim2-server, from PyPI.
private struct RealServer {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let token = "for-this-test"
    let directory: Directory
    let base: String

    /// A script of this folder, with scim2-server and what belongs to it.
    static func script(_ name: String, _ arguments: String...) async throws -> RunningProgram {
        let prepared = try await Program(url: folder.appending(path: "prepare")).run([], seconds: 300)
        guard prepared.status == 0 else { throw Unexpected("no scim2-server: \(prepared.errors)") }
        return try RunningProgram(
            URL(filePath: "/usr/bin/python3"), ["-B", folder.appending(path: name).path] + arguments,
            environment: ["PYTHONPATH": prepared.output.trimmingCharacters(in: .whitespacesAndNewlines)])
    }

    static func run(_ body: (RealServer) async throws -> Void) async throws {
        let server = try await script("scim_server.py", token)
        let result: Result<Void, any Error>
        do {
            let line = try await server.output.line(containing: " is open")
            let port = line.split(separator: " ")[1]
            result = .success(try await body(RealServer(base: "http://127.0.0.1:\(port)/v2")))
        } catch {
            result = .failure(Unexpected("\(error)\n\(server.errors.text)"))
        }
        try await server.stop(SIGKILL)
        try result.get()
    }

    private init(base: String) {
        self.base = base
        let http = HTTPClient()
        let client = ServiceClient { asked in
            var request = HTTPRequest(asked.method, asked.path, headers: asked.headers, body: asked.body)
            request.allowsPlainHTTP = true
            request.headers.set("Authorization", "Bearer \(Self.token)")
            return try await http.send(request)
        }
        directory = Directory(server: client, base: base)
        post = { path, body in
            var request = ServiceRequest("POST", base + path, body: body.bytes)
            request.headers.set("Content-Type", Directory.mediaType)
            return try await client.json(request, ServiceOperation(text: "create the user"))
        }
    }

    /// Makes what the directory cannot make: users.
    let post: @Sendable (_ path: String, _ body: JSON) async throws -> JSON
}

@Suite("The directory against scim2-server", .serialized, .timeLimit(.minutes(15)))
struct RealServerTests {
    private func withUsers(_ body: (Directory) async throws -> Void) async throws {
        try await RealServer.run { server in
            for (name, family, active) in [
                ("alice", "Archer", true), ("albert", "Baker", false), ("bob", "Baker", true), ("carol", "Cook", true),
            ] {
                _ = try await server.post(
                    "/Users",
                    [
                        "schemas": [.string(Directory.Kind.user.schema)], "userName": .string(name),
                        "displayName": .string(name.capitalized), "active": .bool(active),
                        "name": ["familyName": .string(family), "givenName": .string(name.capitalized)],
                        "emails": [["value": .string("\(name)@example.com"), "type": "work"]],
                    ])
            }
            try await body(server.directory)
        }
    }

    @Test("scim2-server finds users by name, id, and every operator and joint of a filter, sorted and paged")
    func users() async throws {
        try await withUsers { directory in
            func found(_ filter: String) async throws -> [String] {
                var query = SCIMQuery(filter: try SCIMFilter(filter))
                query.sortBy = "userName"
                return try await directory.list(.user, query).resources.compactMap { $0["userName"]?.string }
            }
            for (filter, names) in [
                (#"userName eq "bob""#, ["bob"]), (#"userName ne "bob""#, ["albert", "alice", "carol"]),
                (#"userName co "l""#, ["albert", "alice", "carol"]), (#"userName sw "al""#, ["albert", "alice"]),
                (#"name.familyName ew "ker""#, ["albert", "bob"]), (#"userName gt "alice""#, ["bob", "carol"]),
                (#"userName ge "bob""#, ["bob", "carol"]), (#"userName lt "alice""#, ["albert"]),
                (#"userName le "alice""#, ["albert", "alice"]), ("title pr", []),
                (#"emails.value co "carol""#, ["carol"]), ("active eq true", ["alice", "bob", "carol"]),
                (#"userName sw "al" and active eq true"#, ["alice"]),
                (#"userName eq "bob" or userName eq "carol""#, ["bob", "carol"]),
                (#"not (userName sw "al")"#, ["bob", "carol"]),
                (#"(userName eq "bob" or userName eq "alice") and name.familyName eq "Baker""#, ["bob"]),
                (#"userName sw "al" not filter=active eq true"#, ["albert"]),
            ] {
                #expect(try await found(filter) == names, "\(filter)")
            }
            var query = SCIMQuery()
            (query.sortBy, query.order, query.startIndex, query.count) = ("userName", .descending, 2, 2)
            query.attributes = .only(["userName"])
            let page = try await directory.list(.user, query)
            #expect(page.total == 4 && page.startIndex == 2)
            #expect(page.resources.compactMap { $0["userName"]?.string } == ["bob", "alice"])
            #expect(page.resources.allSatisfy { $0["emails"] == nil })
            query.attributes = .without(["emails", "name"])
            let rest = try await directory.list(.user, query).resources
            #expect(rest.allSatisfy { $0["emails"] == nil && $0["active"] != nil })

            let bob = try await directory.find(.user, .name("bob"))
            let id = try #require(bob["id"]?.string)
            #expect(try await directory.find(.user, .id(id))["userName"] == "bob")
            let nobody = await failure(as: DirectoryError.self) { try await directory.find(.user, .id("none")) }
            #expect(nobody == .userUnknown(name: "none"))
            #expect(try await directory.schema(of: .user)["name"] == "User")
            #expect(try await directory.schema(of: .group)["name"] == "Group")
        }
    }

    @Test("scim2-server creates and deletes groups, finds them, and changes their members")
    func groups() async throws {
        try await withUsers { directory in
            let made = try await directory.createGroup("fitters", members: [.name("alice")], owner: nil)
            let id = try #require(made["id"]?.string)
            let alice = try #require(try await directory.find(.user, .name("alice"))["id"]?.string)
            #expect(made["members"]?[0]?["value"] == .string(alice))
            let bob = try #require(try await directory.find(.user, .name("bob"))["id"]?.string)
            _ = try await directory.add(.name("bob"), toGroup: .name("fitters"))
            let both = try await directory.add(.id(bob), toGroup: .id(id))
            #expect(both["members"]?.array?.count == 2, "who is a member stays one")
            let ofBob = try await directory.list(.group, SCIMQuery(filter: .equals("members.value", bob)))
            #expect(ofBob.total == 1 && ofBob.resources[0]["id"] == .string(id))
            let left = try await directory.remove(.name("alice"), fromGroup: .name("fitters"))
            #expect(left["members"]?.array?.compactMap { $0["value"]?.string } == [bob])
            #expect(try await directory.find(.group, .id(id))["displayName"] == "fitters")
            #expect(
                await failure(as: DirectoryError.self) {
                    try await directory.remove(.name("alice"), fromGroup: .name("fitters"))
                } == .memberUnknown(name: "alice", group: "fitters"))
            try await directory.deleteGroup(.name("fitters"))
            #expect(
                await failure(as: DirectoryError.self) { try await directory.find(.group, .name("fitters")) }
                    == .groupUnknown(name: "fitters"))
            #expect(try await directory.list(.group).total == 0)
        }
    }

    @Test("scim2-models reads the lab's answers as users, groups, lists, errors and schemas")
    func lab() async throws {
        let output = try await judge("check_lab.py")
        #expect(
            output.lines == [
                "users 2 alice bob", "user Bob Baker", "group 201 g Bob Baker", "groups 1", "error 404 404",
                "error 404 404", "error 400 400", "schema User True", "schema Group True",
            ])
    }

    @Test("scim2-tester finds nothing wrong with the lab's SCIM")
    func tester() async throws {
        let output = try await judge("test_lab.py")
        #expect(output.text.contains("0 failed"), "\(output.text)")
    }

    /// What a script says of a lab.
    private func judge(_ script: String) async throws -> Collected {
        var settings = LabConfiguration()
        settings.broker = false
        let lab = try await Lab.start(settings)
        let authority = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: authority) }
        try lab.caCertificatePEM.write(to: authority, atomically: true, encoding: .utf8)
        let token = try await lab.makeClient(named: "phone", user: "alice").accessToken
        let check = try await RealServer.script(script, lab.baseURL + "/SCIM/MAS/v2", authority.path, token)
        let status = try await check.ended()
        await lab.stop()
        #expect(status == 0, "\(check.errors.text)")
        return check.output
    }
}
