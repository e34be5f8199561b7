import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Synchronization
import TestSupport
import Testing
import Vault

@testable import MPin

/// `server.py`, and a vault with accounts at it. Both end with it.
final class FakeBackEnd: Sendable {
    let base: String
    let vault: Vault
    private let process: RunningProgram
    private let folder: URL
    private let client = HTTPClient()
    /// The board's clock.
    private let now = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    static func start() async throws -> FakeBackEnd {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server.py")
        let folder = FileManager.default.temporaryDirectory.appending(path: "mpin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-B", script.path])
        let base = try await process.output.line(containing: "http")
        let vault = try await Vault.open(
            at: folder.appending(path: "vault.db").path,
            with: [DevelopmentKeyFile(folder.appending(path: "vault.key").path)], creating: true)
        return FakeBackEnd(base: base, process: process, folder: folder, vault: vault)
    }

    private init(base: String, process: RunningProgram, folder: URL, vault: Vault) {
        (self.base, self.process, self.folder, self.vault) = (base, process, folder, vault)
    }

    deinit {
        process.signal(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Accounts

    /// Accounts as an agent opens them; another value is as good as a new start of the program.
    func accounts() -> MPinBackends {
        MPinBackends(vault: vault, client: HTTPClient()) { [weak self] in self?.now.withLock { $0 } ?? Date() }
    }

    func configuration(_ place: String = "one") -> MPinConfiguration { MPinConfiguration(url: "\(base)/\(place)") }

    func backend(
        _ name: String = "one", _ change: (inout MPinConfiguration) -> Void = { _ in }
    ) async throws -> MPinBackend {
        var configuration = configuration(name)
        change(&configuration)
        return try await accounts().add(name, configuration)
    }

    /// The account after a new start of the program.
    func restarted(_ name: String = "one") async throws -> MPinBackend {
        let backend = try #require(try await accounts().backend(name))
        try await backend.prepare()
        return backend
    }

    func advance(by seconds: TimeInterval) { now.withLock { $0 += seconds } }

    // MARK: What it is asked, and answers

    struct Request {
        let json: JSON
        var method: String { json["method"]?.string ?? "" }
        var path: String { json["path"]?.string ?? "" }
        var query: String { json["query"]?.string ?? "" }
        var text: String { json["body"]?.string ?? "" }
        var body: JSON { (try? JSON(parsing: Array(text.utf8))) ?? .null }
        func header(_ name: String) -> String? { json["headers"]?[name]?.string }
    }

    private func control(_ path: String = "") async throws -> JSON {
        var request = HTTPRequest("GET", base + "/control" + path)
        request.allowsPlainHTTP = true
        return try JSON(parsing: try await client.send(request).body)
    }

    func set(_ changes: JSON) async throws {
        var request = HTTPRequest("POST", base + "/control", body: changes.bytes)
        request.allowsPlainHTTP = true
        #expect(try await client.send(request).status == 200)
    }

    func requests() async throws -> [Request] {
        (try await control()["requests"]?.array ?? []).map(Request.init)
    }

    /// The requests of a piece of work.
    func requests(of work: () async throws -> Void) async throws -> [Request] {
        try await set(["requests": []])
        try await work()
        return try await requests()
    }

    /// What an endpoint answers from now on; status 0 ends the connection.
    func answer(_ endpoint: String, _ status: Int64, _ text: String = "") async throws {
        try await set(["answers": [endpoint: [.integer(status), .string(text)]]])
    }

    /// Members of an endpoint's answer from now on, in place of its own; null removes one.
    func patch(_ endpoint: String, _ members: JSON) async throws { try await set(["patches": [endpoint: members]]) }

    /// Lets an endpoint answer only when this returns, which it does when `work` has ended.
    func holding(_ endpoint: String, _ work: () async throws -> Void) async throws {
        try await set(["hold": .string(endpoint)])
        try await work()
        try await set(["hold": nil])
    }

    /// Waits until a held endpoint has been asked.
    func held() async throws { _ = try await control("/held") }

    func behave() async throws { try await set(["answers": [:], "patches": [:]]) }
}

extension MPinBackend {
    static let pin = SecretBytes(utf8: "1234")
    static let wrongPIN = SecretBytes(utf8: "1235")

    /// A user in a state.
    func user(_ state: MPinUserState, named id: String = "alice", at server: FakeBackEnd) async throws -> MPinUser {
        try await server.set(["isActive": .bool(state != .startedRegistration)])
        var user = try await startRegistration(makeUser(id))
        if state == .registered || state == .blocked {
            user = try await confirmRegistration(user)
            user = try await finishRegistration(user, pin: Self.pin)
        }
        if state == .blocked {
            try await startAuthentication(user)
            try await server.answer("authenticate", 410)
            await #expect(throws: MPinError.self) { try await finishAuthentication(user, pin: Self.pin) }
            try await server.behave()
            user = try self.user(id)
        }
        try #require(user.state == state)
        return user
    }

    /// Both steps of a login.
    func logIn(_ user: MPinUser, _ pin: SecretBytes = MPinBackend.pin) async throws {
        try await startAuthentication(user)
        _ = try await finishAuthentication(user, pin: pin)
    }
}

/// The status of what a piece of work throws; `OK` if it throws nothing, `nil` for what is no error of M-Pin.
func status(_ work: () async throws -> Void) async -> MPinStatus? {
    do {
        try await work()
        return .ok
    } catch {
        return (error as? MPinError)?.status
    }
}
