import Cryptography
import FoundationEssentials
import Groundwork
import Vault

/// ``Holdings`` as vault records: secrets and keys as they are, what goes with them as JSON beside them.
enum HoldingsRecord: String, CaseIterable {
    case identifierKey = "device-identifier-key"
    case pendingKey = "device-key-pending"
    case deviceKey = "device-key"
    case certificates = "device-certificates"
    case registration = "registration"
    case renewedCertificates = "device-certificates-renewed"
    case rest = "registration-rest"
    case client = "client"
    case clientSecret = "client-secret"
    case accessToken = "access-token"
    case accessTokenTerms = "access-token-terms"
    case refreshToken = "refresh-token"
    case idToken = "id-token"
    case idTokenTerms = "id-token-terms"

    var kind: RecordKind {
        switch self {
        case .identifierKey, .pendingKey, .deviceKey: .privateKey
        case .certificates, .renewedCertificates: .certificateChain
        case .client, .clientSecret: .clientCredentials
        case .accessToken, .refreshToken, .idToken: .token
        case .registration, .rest, .accessTokenTerms, .idTokenTerms: .state
        }
    }
}

/// The changes of one commit that take a gateway's records from one state to another.
struct HoldingsChanges {
    private let scope: String
    private(set) var changes: [Change] = []

    init(from old: Holdings, to new: Holdings, scope: String) throws {
        self.scope = scope
        if old.identifierKey?.publicKey != new.identifierKey?.publicKey {
            set(.identifierKey, try new.identifierKey?.pkcs8())
        }
        if old.pendingKey?.publicKey != new.pendingKey?.publicKey { set(.pendingKey, try new.pendingKey?.pkcs8()) }
        if old.device != new.device {
            if old.device?.key.publicKey != new.device?.key.publicKey { set(.deviceKey, try new.device?.key.pkcs8()) }
            set(.certificates, new.device.map { Self.pem($0.chain) })
            set(.registration, new.device.map(Self.terms))
        }
        if old.renewedChain != new.renewedChain {
            set(.renewedCertificates, new.renewedChain.isEmpty ? nil : Self.pem(new.renewedChain))
        }
        if old.rest != new.rest { set(.rest, new.rest.map(Self.terms)) }
        if old.client != new.client {
            set(.client, new.client.map(Self.terms))
            set(.clientSecret, new.client.map(\.secret))
        }
        if old.accessToken != new.accessToken {
            set(.accessToken, new.accessToken.map(\.value))
            set(.accessTokenTerms, new.accessToken.map(Self.terms))
        }
        if old.refreshToken != new.refreshToken { set(.refreshToken, new.refreshToken) }
        if old.idToken != new.idToken {
            set(.idToken, new.idToken.map(\.value))
            set(.idTokenTerms, new.idToken.map(Self.terms))
        }
    }

    private mutating func set(_ record: HoldingsRecord, _ content: SecretBytes?) {
        let name = RecordName(scope: scope, name: record.rawValue)
        changes.append(content.map { .put(name, record.kind, $0) } ?? .remove(name))
    }

    private static func bytes(_ json: JSON) -> SecretBytes { SecretBytes(json.bytes) }
    private static func pem(_ chain: [Certificate]) -> SecretBytes { SecretBytes(utf8: chain.map(\.pem).joined()) }
    private static func time(_ date: Date) -> JSON { .number(date.timeIntervalSince1970) }

    private static func terms(_ device: Device) -> SecretBytes {
        bytes([
            "mag_identifier": .string(device.magIdentifier), "active": .bool(device.isActive),
            "registered_at": time(device.registeredAt), "renewed_at": device.renewedAt.map(time) ?? .null,
        ])
    }

    private static func terms(_ rest: RegistrationRest) -> SecretBytes {
        switch rest {
        case .byPerson: bytes([:])
        case .withdrawn(let code): bytes(["code": .integer(Int64(code))])
        }
    }

    private static func terms(_ client: ClientCredentials) -> SecretBytes {
        bytes([
            "master_id": .string(client.masterID), "id": .string(client.id), "static": .bool(client.isStatic),
            "expires": client.expires.map(time) ?? .null,
        ])
    }

    private static func terms(_ token: HeldToken) -> SecretBytes {
        bytes([
            "received_at": time(token.receivedAt), "lifetime": .number(token.lifetime), "scope": .string(token.scope),
        ])
    }

    private static func terms(_ token: HeldIDToken) -> SecretBytes {
        bytes(["type": .string(token.type), "expires": token.expires.map(time) ?? .null])
    }
}
