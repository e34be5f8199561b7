import Foundation
import GatewayLab
import Groundwork

/// A lab, a directory and an independent client, for one test.
struct Workshop: Sendable {
    let lab: Lab
    let directory: String
    let curl: Curl

    /// Gives a workshop to `body` and clears it away afterwards.
    static func open(
        _ prepare: (inout LabConfiguration) -> Void = { _ in }, body: (Workshop) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("workshop-" + UUID().uuidString)
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = LabConfiguration()
        configuration.broker = false
        prepare(&configuration)
        let lab = try await Lab.start(configuration)
        do {
            try await body(Workshop(lab: lab, directory: directory, curl: Curl(lab: lab, directory: directory)))
        } catch {
            await lab.stop()
            throw error
        }
        await lab.stop()
    }

    /// A header that every call of the admin API has to show, for curl.
    var adminHeader: [String] { ["-H", "Authorization: Bearer \(lab.adminToken)"] }

    /// A key and a request, made by the openssl program.
    func board(_ name: String = "board", commonName: String = "clientName", organization: String = "Latchkey Lab")
        async throws
        -> Board
    {
        let (key, request) = ("\(directory)/\(name).key", "\(directory)/\(name).csr")
        try await run(
            "openssl",
            [
                "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-outform", "DER",
                "-sha256",
                "-subj", "/CN=\(commonName)/OU=\(name)-id/DC=testboard/O=\(organization)",
            ])
        let der = try Data(contentsOf: URL(fileURLWithPath: request))
        return Board(name: name, deviceID: "\(name)-id", keyFile: key, request: Array(der))
    }

    /// E2.
    func initialize(_ board: Board, master: String = MasterClient.agent.clientID) async throws -> ClientPair {
        let reply = try await curl.send(
            "POST", Endpoint.clientInitialization.path, headers: ["device-id": board.encodedID],
            form: [("client_id", master), ("nonce", UUID().uuidString)])
        guard let id = reply.json["client_id"]?.string, let secret = reply.json["client_secret"]?.string else {
            throw Unexpected(reply: reply)
        }
        return ClientPair(id: id, secret: secret)
    }

    /// E5.
    func register(_ board: Board, _ client: ClientPair, headers: [String: String] = [:], body: [UInt8]? = nil)
        async throws
        -> Curl.Reply
    {
        let standard = [
            "client-authorization": client.basic, "device-id": board.encodedID,
            "device-name": Base64.encode("Test board".utf8), "cert-format": "pem", "Content-Type": "text/plain",
        ]
        return try await curl.send(
            "POST", Endpoint.clientRegistration.path, headers: standard.merging(headers) { _, mine in mine },
            body: body ?? Array(Base64.encode(board.request, alphabet: .urlSafe).utf8))
    }

    /// E2 and E5.
    func registered(_ name: String = "board") async throws -> Registered {
        let board = try await board(name)
        let client = try await initialize(board)
        let reply = try await register(board, client)
        guard reply.status == 200, let mag = reply.header("mag-identifier") else { throw Unexpected(reply: reply) }
        return Registered(board: board, client: client, magIdentifier: mag, identity: try identity(board, reply.text))
    }

    /// A file with a certificate and the board's key.
    func identity(_ board: Board, _ certificate: String) throws -> String {
        let path = "\(directory)/\(board.name)-\(UUID().uuidString).pem"
        try (certificate + String(contentsOfFile: board.keyFile, encoding: .utf8))
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// E8
    func token(_ device: Registered, _ fields: [(String, String)], headers: [String: String] = [:]) async throws
        -> Curl.Reply
    {
        let known = [("client_id", device.client.id), ("client_secret", device.client.secret)]
        return try await curl.send(
            "POST", Endpoint.token.path,
            headers: ["mag-identifier": device.magIdentifier].merging(headers) { _, mine in mine }, form: fields + known
        )
    }

    /// An access token by client credentials.
    func accessToken(_ device: Registered, scope: String = MasterClient.defaultScope) async throws -> String {
        let reply = try await token(device, [("grant_type", "client_credentials"), ("scope", scope)])
        guard let token = reply.json["access_token"]?.string else { throw Unexpected(reply: reply) }
        return token
    }
}

/// An answer that a test cannot go on with.
struct Unexpected: Error, CustomStringConvertible {
    var reply: Curl.Reply
    var description: String { "unexpected answer \(reply.status) \(reply.headers) \(reply.text)" }
}

struct Board: Sendable {
    var name: String
    var deviceID: String
    var keyFile: String
    /// DER
    var request: [UInt8]
    var encodedID: String { Base64.encode(deviceID.utf8) }
}

struct ClientPair: Sendable {
    var id: String
    var secret: String
    var basic: String { "Basic " + Base64.encode("\(id):\(secret)".utf8) }
}

struct Registered: Sendable {
    var board: Board
    var client: ClientPair
    var magIdentifier: String
    /// PEM file with certificate and key.
    var identity: String
}
