import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
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
    case user = "user"
    case userAccessToken = "user-access-token"
    case userAccessTokenTerms = "user-access-token-terms"
    case userRefreshToken = "user-refresh-token"
    case userIDToken = "user-id-token"
    case userIDTokenTerms = "user-id-token-terms"

    var kind: RecordKind {
        switch self {
        case .identifierKey, .pendingKey, .deviceKey: .privateKey
        case .certificates, .renewedCertificates: .certificateChain
        case .client, .clientSecret: .clientCredentials
        case .accessToken, .refreshToken, .idToken, .userAccessToken, .userRefreshToken, .userIDToken: .token
        case .registration, .rest, .accessTokenTerms, .idTokenTerms, .user, .userAccessTokenTerms, .userIDTokenTerms:
            .state
        }
    }

    /// Where the tokens of a principal are.
    static func tokens(of principal: Principal) -> TokenRecords {
        switch principal {
        case .board:
            TokenRecords(
                access: .accessToken, accessTerms: .accessTokenTerms, refresh: .refreshToken, id: .idToken,
                idTerms: .idTokenTerms)
        case .user:
            TokenRecords(
                access: .userAccessToken, accessTerms: .userAccessTokenTerms, refresh: .userRefreshToken,
                id: .userIDToken,
                idTerms: .userIDTokenTerms)
        }
    }

    struct TokenRecords {
        let access, accessTerms, refresh, id, idTerms: HoldingsRecord
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
            set(.clientSecret, new.client.map(\.authentication.secret))
        }
        if old.user?.name != new.user?.name || old.user?.loggedInAt != new.user?.loggedInAt {
            set(.user, new.user.map(Self.terms))
        }
        for principal in Principal.allCases { setTokens(of: principal, from: old[principal], to: new[principal]) }
    }

    private mutating func setTokens(of principal: Principal, from old: HeldTokens, to new: HeldTokens) {
        let records = HoldingsRecord.tokens(of: principal)
        if old.access != new.access {
            set(records.access, new.access.map(\.value))
            set(records.accessTerms, new.access.map(Self.terms))
        }
        if old.refresh != new.refresh { set(records.refresh, new.refresh) }
        if old.id != new.id {
            set(records.id, new.id.map(\.value))
            set(records.idTerms, new.id.map(Self.terms))
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
            "expires": client.authentication.expires.map(time) ?? .null,
        ])
    }

    private static func terms(_ user: HeldUser) -> SecretBytes {
        bytes(["name": user.name.map { .string($0) } ?? .null, "logged_in_at": time(user.loggedInAt)])
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
