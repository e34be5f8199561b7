import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing
import Vault

@testable import OAuthAccounts

/// `server.py`, and a vault with accounts at it. Both end with it.
final class ChosenServer: Sendable {
    let base: String
    private let process: RunningProgram
    private let folder: URL
    let vault: Vault
    private let client = HTTPClient()

    /// - Parameter identity: for TLS; without it, it speaks plain HTTP.
    static func start(_ identity: TLSIdentity? = nil) async throws -> ChosenServer {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server.py")
        let folder = FileManager.default.temporaryDirectory.appending(path: "oauth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pem = folder.appending(path: "server.pem")
        if let identity {
            try (identity.keyPEM + identity.chain.map(\.pem).joined()).write(to: pem, atomically: true, encoding: .utf8)
        }
        let arguments = ["-B", script.path] + (identity == nil ? [] : [pem.path])
        let process = try RunningProgram(URL(filePath: "/usr/bin/python3"), arguments)
        let base = try await process.output.line(containing: "http")
        let vault = try await Vault.open(
            at: folder.appending(path: "vault.db").path,
            with: [DevelopmentKeyFile(folder.appending(path: "vault.key").path)], creating: true)
        return ChosenServer(base: base, process: process, folder: folder, vault: vault)
    }

    private init(base: String, process: RunningProgram, folder: URL, vault: Vault) {
        (self.base, self.process, self.folder, self.vault) = (base, process, folder, vault)
    }

    deinit {
        process.signal(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Accounts as an agent opens them.
    ///
    /// - Parameter ahead: how many seconds later it is than it really is.
    func accounts(
        ahead: TimeInterval = 0,
        onLoginNeeded: @escaping @Sendable (String, OAuthAccountError) -> Void = { _, _ in }
    ) -> OAuthAccounts {
        OAuthAccounts(
            vault: vault, client: HTTPClient(), clock: { Date() + ahead }, onLoginNeeded: onLoginNeeded)
    }

    /// An account at an issuer of the server.
    func account(
        _ name: String = "cloud", issuer: String = "good", grant: ServerConfiguration.Grant = .password,
        scope: String = "a b", _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> OAuthAccount {
        var server = ServerConfiguration()
        server.issuer = "\(base)/\(issuer)"
        (server.clientID, server.grant, server.scope) = ("board", grant, scope)
        (server.authentication, server.secret) = (.post, SecretBytes(utf8: "the secret of the client"))
        server.resources = [base + "/good"]
        change(&server)
        return try await accounts().add(name, server, registration: nil)
    }

    func control() async throws -> JSON {
        var request = HTTPRequest("GET", base + "/control")
        request.allowsPlainHTTP = true
        return try JSON(parsing: try await client.send(request).body)
    }

    func count(_ name: String) async throws -> Int64 { try await control()["counts"]?[name]?.integer ?? 0 }

    func form(_ field: String) async throws -> String? { try await control()["form"]?[field]?.string }

    func set(_ changes: JSON) async throws {
        var request = HTTPRequest("POST", base + "/control", body: changes.bytes)
        request.allowsPlainHTTP = true
        #expect(try await client.send(request).status == 200)
    }

    /// What the token endpoint answers from now on.
    func answer(_ status: Int64, _ text: String) async throws {
        try await set(["answer": [.integer(status), .string(text)]])
    }
}

extension OAuthAccount {
    func logInAsAlice(scope: String? = nil) async throws -> AccountUser {
        try await logIn(userName: "alice", password: SecretBytes(utf8: "alice-password"), scope: scope)
    }
}
