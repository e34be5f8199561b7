import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import Testing
import Vault

@testable import Gateway

/// A copy of the vault that a version with up to 20 records a gateway has left: `Fixtures/README.md`.
struct EarlierVault: Sendable {
    let vault: Vault
    private let gateways: [String: EarlierHoldings.Fixture]

    /// All records that a gateway has now, beside its keys.
    static let present = Set(HoldingsDocument.allCases.map(\.rawValue) + ["configuration"])

    static let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/twenty-records")

    init(_ vault: Vault) throws {
        self.vault = vault
        gateways = try JSONDecoder().decode(
            [String: EarlierHoldings.Fixture].self,
            from: Data(contentsOf: Self.fixture.appendingPathExtension("json")))
    }

    func held(_ gateway: String) throws -> (scope: String, holdings: EarlierHoldings) {
        let fixture = try #require(gateways[gateway])
        return (fixture.scope, EarlierHoldings(fixture))
    }

    func identity(_ gateway: String) throws -> GatewayIdentity {
        try #require(GatewayIdentity(scope: held(gateway).scope))
    }

    /// A session a minute after the vault was left.
    func session(_ gateway: String) async throws -> GatewaySession {
        let configuration = try await Gateways(vault: vault).configuration(of: identity(gateway))
        return GatewaySession(
            configuration: try #require(configuration), vault: vault, client: HTTPClient(),
            board: DeviceDescription(name: "bench", model: "Test Board"),
            clock: { Date(timeIntervalSince1970: 1_795_342_044) }, uptime: { .seconds(5) })
    }

    func records(_ gateway: String) async throws -> Set<String> {
        Set(try await vault.names(scope: held(gateway).scope).map(\.name))
    }

    /// Replaces a record of the whole gateway, or removes it.
    func put(_ record: String, _ content: String?) async throws {
        let name = RecordName(scope: try held("whole").scope, name: record)
        let kind = record.hasSuffix("key") ? RecordKind.privateKey : .state
        try await vault.commit([content.map { .put(name, kind, SecretBytes(utf8: $0)) } ?? .remove(name)])
    }
}

/// Gives a test a copy of the vault, which is gone afterwards.
func withEarlierVault(_ test: (EarlierVault) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-earlier-\(UUID())")
    try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    for kind in ["db", "key"] {
        let copy = folder.appending(path: "vault.\(kind)")
        try FileManager.default.copyItem(at: EarlierVault.fixture.appendingPathExtension(kind), to: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
    }
    let vault = try await Vault.open(
        at: folder.appending(path: "vault.db").path,
        with: [DevelopmentKeyFile(folder.appending(path: "vault.key").path)], creating: false)
    do {
        try await test(try EarlierVault(vault))
    } catch {
        await vault.close()
        throw error
    }
    await vault.close()
}

/// What a session holds, in words and numbers, to be compared.
struct EarlierHoldings: Equatable {
    struct Fixture: Decodable {
        var scope: String
        var deviceID: String?
        var pendingKey: String?
        var device: Device?
        var renewedSerials: [String]
        var rest: String?
        var client: Client?
        var tokens: Tokens
        var user: User?

        enum CodingKeys: String, CodingKey {
            case scope, device, rest, client, tokens, user
            case deviceID = "device_id"
            case pendingKey = "pending_key"
            case renewedSerials = "renewed_serials"
        }
    }

    struct Device: Decodable, Equatable {
        var key: String
        var serials: [String]
        var magIdentifier: String
        var active: Bool
        var registeredAt: Double
        var renewedAt: Double?

        enum CodingKeys: String, CodingKey {
            case key, serials, active
            case magIdentifier = "mag_identifier"
            case registeredAt = "registered_at"
            case renewedAt = "renewed_at"
        }
    }

    struct Client: Decodable, Equatable {
        var masterID: String
        var id: String
        var secret: String
        var isStatic: Bool
        var expires: Double?

        enum CodingKeys: String, CodingKey {
            case id, secret, expires
            case masterID = "master_id"
            case isStatic = "static"
        }
    }

    struct Tokens: Decodable, Equatable {
        var access: String?
        var lifetime: Double?
        var receivedAt: Double?
        var scope: String?
        var refresh: String?
        var id: String?
        var idType: String?
        var idExpires: Double?

        enum CodingKeys: String, CodingKey {
            case access, lifetime, scope, refresh, id
            case receivedAt = "received_at"
            case idType = "id_type"
            case idExpires = "id_expires"
        }
    }

    struct User: Decodable, Equatable {
        var name: String?
        var loggedInAt: Double
        var tokens: Tokens

        enum CodingKeys: String, CodingKey {
            case name, tokens
            case loggedInAt = "logged_in_at"
        }
    }

    var deviceID: String?
    var pendingKey: String?
    var device: Device?
    var renewedSerials: [String]
    var rest: String?
    var client: Client?
    var tokens: Tokens
    var user: User?

    init(_ fixture: Fixture) {
        deviceID = fixture.deviceID
        pendingKey = fixture.pendingKey
        device = fixture.device
        renewedSerials = fixture.renewedSerials
        rest = fixture.rest
        client = fixture.client
        tokens = fixture.tokens
        user = fixture.user
    }

    init(_ held: Holdings) {
        deviceID = held.deviceID
        pendingKey = held.pendingKey.flatMap { held.keys[$0] }.map { Hex.encode($0.publicKey.spkiSHA256) }
        device = held.device.map {
            Device(
                key: Hex.encode(held.keys[$0.key]!.publicKey.spkiSHA256), serials: $0.chain.map(\.serialNumber),
                magIdentifier: $0.magIdentifier, active: $0.isActive,
                registeredAt: $0.registeredAt.timeIntervalSince1970, renewedAt: $0.renewedAt?.timeIntervalSince1970)
        }
        renewedSerials = held.device?.renewedChain.map(\.serialNumber) ?? []
        rest =
            switch held.rest {
            case .byPerson: "by person"
            case .withdrawn(let code): "withdrawn \(code)"
            case nil: nil
            }
        client = held.client.map {
            Client(
                masterID: $0.masterID, id: $0.id, secret: $0.authentication.secret.exposedText(),
                isStatic: $0.isStatic, expires: $0.authentication.expires?.timeIntervalSince1970)
        }
        tokens = Self.tokens(held.board)
        user = held.user.map {
            User(name: $0.name, loggedInAt: $0.loggedInAt.timeIntervalSince1970, tokens: Self.tokens($0.tokens))
        }
    }

    private static func tokens(_ tokens: HeldTokens) -> Tokens {
        Tokens(
            access: tokens.access?.value.exposedText(), lifetime: tokens.access?.lifetime,
            receivedAt: tokens.access?.receivedAt.timeIntervalSince1970, scope: tokens.access?.scope,
            refresh: tokens.refresh?.exposedText(), id: tokens.id?.value.exposedText(), idType: tokens.id?.type,
            idExpires: tokens.id?.expires?.timeIntervalSince1970)
    }
}
