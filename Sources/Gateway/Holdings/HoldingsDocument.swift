import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// ``Holdings`` as vault records: one JSON document for each group of data that changes together. Private keys are
/// stored by reference; the vault has the keys.
enum HoldingsDocument: String, CaseIterable {
    case identity = "device-identity"
    case device
    case rest = "registration-rest"
    case client = "client-credentials"
    case boardTokens = "board-tokens"
    case user = "user-log-in"
    case lock = "user-lock"

    var kind: RecordKind {
        switch self {
        case .device: .certificateChain
        case .identity, .rest: .state
        case .client: .clientCredentials
        case .boardTokens, .user, .lock: .token
        }
    }

    /// Whether it is behind the vault's passcode, if there is one.
    var isPersonal: Bool { self == .user }

    func name(in scope: String) -> RecordName { RecordName(scope: scope, name: rawValue) }

    /// - Returns: `nil` if there is nothing to store.
    func content(of holdings: Holdings) -> JSON? {
        switch self {
        case .identity: Self.identity(of: holdings)
        case .device: holdings.device.map(Self.document)
        case .rest: holdings.rest.map(Self.document)
        case .client: holdings.client.map(Self.document)
        case .boardTokens: Self.boardTokens(of: holdings)
        case .user: holdings.user.map(Self.document)
        case .lock: holdings.lock.map(Self.document)
        }
    }

    private static func identity(of holdings: Holdings) -> JSON? {
        guard holdings.identifierKey != nil || holdings.pendingKey != nil else { return nil }
        return ["identifier_key": text(holdings.identifierKey), "pending_key": text(holdings.pendingKey)]
    }

    private static func boardTokens(of holdings: Holdings) -> JSON? {
        // A conditional expression would turn `nil` into the JSON null.
        guard !holdings.board.isEmpty else { return nil }
        return document(holdings.board)
    }

    private static func document(_ device: Device) -> JSON {
        [
            "key": text(device.key),
            "certificates": pem(device.chain), "renewed_certificates": pem(device.renewedChain),
            "mag_identifier": .string(device.magIdentifier), "active": .bool(device.isActive),
            "registered_at": time(device.registeredAt), "renewed_at": device.renewedAt.map(time) ?? .null,
        ]
    }

    private static func document(_ rest: RegistrationRest) -> JSON {
        switch rest {
        case .byPerson: [:]
        case .withdrawn(let code): ["code": .integer(Int64(code))]
        }
    }

    private static func document(_ client: ClientCredentials) -> JSON {
        [
            "master_id": .string(client.masterID), "id": .string(client.id),
            "secret": text(client.authentication.secret), "static": .bool(client.isStatic),
            "expires": client.authentication.expires.map(time) ?? .null,
        ]
    }

    private static func document(_ user: HeldUser) -> JSON {
        [
            "name": user.name.map { .string($0) } ?? .null, "logged_in_at": time(user.loggedInAt),
            "tokens": document(user.tokens), "profile": user.profile?.claims ?? .null,
            "profile_at": user.profile.map { time($0.updatedAt) } ?? .null,
        ]
    }

    private static func document(_ lock: SessionLock) -> JSON {
        let cost = lock.sealed.cost
        return [
            "name": lock.userName.map { .string($0) } ?? .null, "logged_in_at": time(lock.loggedInAt),
            "locked_at": time(lock.lockedAt), "session_ends": lock.sessionEnds.map(time) ?? .null,
            "cost": .array([cost.n, cost.r, cost.p].map { .integer(Int64($0)) }),
            "salt": .string(Base64.encode(lock.sealed.salt)), "sealed": .string(Base64.encode(lock.sealed.bytes)),
            "failures": .integer(Int64(lock.failures)), "last_failure": lock.lastFailure.map(time) ?? .null,
            "left_over": lock.leftOver.map(text) ?? .null,
        ]
    }

    /// A user, to be sealed.
    static func content(of user: HeldUser) -> JSON { document(user) }

    private static func document(_ tokens: HeldTokens) -> JSON {
        [
            "access": tokens.access.map(document) ?? .null, "refresh": tokens.refresh.map(text) ?? .null,
            "id": tokens.id.map(document) ?? .null,
        ]
    }

    private static func document(_ token: HeldToken) -> JSON {
        [
            "value": text(token.value), "received_at": time(token.receivedAt), "lifetime": .number(token.lifetime),
            "scope": .string(token.scope),
        ]
    }

    private static func document(_ token: HeldIDToken) -> JSON {
        [
            "value": text(token.value), "type": .string(token.type), "expires": token.expires.map(time) ?? .null,
        ]
    }

    /// The change that stores why the board does not register by itself, or that it may.
    static func change(ofRest rest: RegistrationRest?, in scope: String) -> Change {
        HoldingsChanges.change(.rest, rest.map(document), scope)
    }

    private static func time(_ date: Date) -> JSON { .number(date.timeIntervalSince1970) }
    private static func pem(_ chain: [Certificate]) -> JSON { .string(chain.map(\.pem).joined()) }
    private static func text(_ reference: KeyReference?) -> JSON { reference.map { .string($0.description) } ?? .null }
    /// A gateway's secrets are text because they come from headers and JSON.
    private static func text(_ secret: SecretBytes) -> JSON { .string(secret.exposedText()) }
}

/// The changes that update a gateway's records from one state to another, in one commit.
struct HoldingsChanges {
    let changes: [Change]
    /// Keys that are no longer referenced.
    let droppedKeys: Set<KeyReference>

    init(from old: Holdings, to new: Holdings, scope: String) {
        droppedKeys = old.references.subtracting(new.references)
        changes = HoldingsDocument.allCases.compactMap { document in
            let content = document.content(of: new)
            if document == .user, old.userFault != nil || new.userFault != nil {
                return new.userFault == nil ? Self.change(document, content, scope) : nil
            }
            return content == document.content(of: old) ? nil : Self.change(document, content, scope)
        }
    }

    fileprivate static func change(_ document: HoldingsDocument, _ content: JSON?, _ scope: String) -> Change {
        guard let content else { return .remove(document.name(in: scope)) }
        var bytes = content.bytes
        defer { wipe(&bytes) }
        let (name, secret) = (document.name(in: scope), SecretBytes(bytes))
        return document.isPersonal
            ? .putPersonal(name, document.kind, secret) : .put(name, document.kind, secret)
    }
}
