import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// Reads ``Holdings`` from their records.
///
/// Unreadable client credentials, tokens and users count as absent: the gateway issues new ones. An unreadable device
/// is an error, because without it the board would register again.
struct HoldingsReader {
    /// The contents of the records, by name.
    let records: [String: SecretBytes]

    /// The stored state, without the private keys: the caller gets those of ``Holdings/references`` from the vault.
    ///
    /// - Throws: ``GatewayError/deviceRecordInvalid(reason:)`` when the device or its key references cannot be read.
    func holdings(at now: Moment) throws -> Holdings {
        let identity = document(.identity)
        // Do not guess here: a key without a reference is removed.
        guard records[HoldingsDocument.identity.rawValue] == nil || identity?["identifier_key"] != nil else {
            throw GatewayError.deviceRecordInvalid(reason: "device-identity names no keys")
        }
        let lock = lock()
        return Holdings(
            identifierKey: Self.reference(identity?["identifier_key"]),
            pendingKey: Self.reference(identity?["pending_key"]), device: try device(), rest: rest(),
            client: client(), board: Self.tokens(document(.boardTokens), at: now),
            user: lock == nil ? user(at: now) : nil, lock: lock)
    }

    func user(at now: Moment) -> HeldUser? { Self.user(document(.user), at: now) }

    private func document(_ document: HoldingsDocument) -> JSON? { Self.json(records[document.rawValue]) }

    private func device() throws -> Device? {
        guard records[HoldingsDocument.device.rawValue] != nil else { return nil }
        let document = document(.device)
        let chain = try chain(document, "certificates")
        guard !chain.isEmpty else {
            throw GatewayError.deviceRecordInvalid(reason: "device contains no certificates")
        }
        guard let key = Self.reference(document?["key"]) else {
            throw GatewayError.deviceRecordInvalid(reason: "a part of it is missing")
        }
        guard let magIdentifier = document?["mag_identifier"]?.string,
            let registeredAt = Self.date(document?["registered_at"])
        else { throw GatewayError.deviceRecordInvalid(reason: "it has no mag-identifier") }
        return Device(
            key: key, chain: chain, magIdentifier: magIdentifier, isActive: document?["active"]?.bool ?? true,
            registeredAt: registeredAt, renewedAt: Self.date(document?["renewed_at"]),
            renewedChain: try self.chain(document, "renewed_certificates"))
    }

    private func chain(_ document: JSON?, _ member: String) throws -> [Certificate] {
        do {
            return try Certificate.all(inPEM: document?[member]?.string ?? "")
        } catch {
            throw GatewayError.deviceRecordInvalid(reason: "device contains no certificates")
        }
    }

    private func rest() -> RegistrationRest? {
        guard let document = document(.rest) else { return nil }
        return document["code"]?.integer.map { .withdrawn(code: Int($0)) } ?? .byPerson
    }

    private func client() -> ClientCredentials? {
        guard let document = document(.client), let masterID = document["master_id"]?.string,
            let id = document["id"]?.string, let secret = Self.secret(document["secret"])
        else { return nil }
        return ClientCredentials(
            masterID: masterID,
            authentication: ClientAuthentication(id: id, secret: secret, expires: Self.date(document["expires"])),
            isStatic: document["static"]?.bool ?? false)
    }

    /// A user who was sealed by a lock.
    static func user(in content: SecretBytes, at now: Moment) -> HeldUser? { user(json(content), at: now) }

    private func lock() -> SessionLock? {
        guard let document = document(.lock), let loggedInAt = Self.date(document["logged_in_at"]),
            let lockedAt = Self.date(document["locked_at"]),
            let cost = document["cost"]?.array?.compactMap(\.integer), cost.count == 3,
            let salt = document["salt"]?.string.flatMap({ Base64.decode($0) }),
            let sealed = document["sealed"]?.string.flatMap({ Base64.decode($0) })
        else { return nil }
        return SessionLock(
            userName: document["name"]?.string, loggedInAt: loggedInAt, lockedAt: lockedAt,
            sessionEnds: Self.date(document["session_ends"]),
            sealed: SealedSession(
                cost: ScryptCost(n: Int(cost[0]), r: Int(cost[1]), p: Int(cost[2])), salt: salt, bytes: sealed),
            failures: Int(clamping: document["failures"]?.integer ?? 0),
            lastFailure: Self.date(document["last_failure"]), leftOver: Self.secret(document["left_over"]))
    }

    private static func user(_ document: JSON?, at now: Moment) -> HeldUser? {
        guard let document, let loggedInAt = date(document["logged_in_at"]) else { return nil }
        let tokens = tokens(document["tokens"], at: now)
        guard !tokens.isEmpty else { return nil }
        let profile = date(document["profile_at"]).flatMap { date in
            document["profile"].flatMap { UserProfile($0, updatedAt: date) }
        }
        return HeldUser(name: document["name"]?.string, loggedInAt: loggedInAt, tokens: tokens, profile: profile)
    }

    private static func tokens(_ document: JSON?, at now: Moment) -> HeldTokens {
        HeldTokens(
            access: accessToken(document?["access"], at: now), refresh: secret(document?["refresh"]),
            id: idToken(document?["id"]))
    }

    private static func accessToken(_ document: JSON?, at now: Moment) -> HeldToken? {
        guard let document, let value = secret(document["value"]), let receivedAt = date(document["received_at"]),
            let lifetime = document["lifetime"]?.number
        else { return nil }
        return HeldToken(
            value: value, lifetime: lifetime, scope: document["scope"]?.string ?? "", receivedAt: receivedAt,
            at: now.date, uptime: now.uptime)
    }

    private static func idToken(_ document: JSON?) -> HeldIDToken? {
        guard let document, let value = secret(document["value"]), let type = document["type"]?.string else {
            return nil
        }
        return HeldIDToken(value: value, type: type, expires: date(document["expires"]))
    }

    private static func reference(_ value: JSON?) -> KeyReference? { value?.string.flatMap { KeyReference($0) } }
    private static func secret(_ value: JSON?) -> SecretBytes? { value?.string.map { SecretBytes(utf8: $0) } }
    private static func json(_ content: SecretBytes?) -> JSON? {
        guard var bytes = content?.exposed() else { return nil }
        defer { wipe(&bytes) }
        return try? JSON(parsing: bytes)
    }

    private static func date(_ value: JSON?) -> Date? { value?.number.map { Date(timeIntervalSince1970: $0) } }
}
