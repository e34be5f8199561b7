import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// ``Holdings`` in the record format before ``HoldingsDocument``: up to 20 records, each secret in its own and its
/// details as JSON in another. They are read once and no longer written.
enum EarlierRecord: String, CaseIterable {
    case certificates = "device-certificates"
    case registration = "registration"
    case renewedCertificates = "device-certificates-renewed"
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

    /// The records of a principal's tokens.
    struct Tokens {
        let access, accessTerms, refresh, id, idTerms: EarlierRecord

        static let board = Tokens(
            access: .accessToken, accessTerms: .accessTokenTerms, refresh: .refreshToken, id: .idToken,
            idTerms: .idTokenTerms)
        static let user = Tokens(
            access: .userAccessToken, accessTerms: .userAccessTokenTerms, refresh: .userRefreshToken,
            id: .userIDToken, idTerms: .userIDTokenTerms)
    }
}

/// The private keys of those versions, as records in PKCS#8. The key of an answered registration and the key for the
/// next registration had separate records.
enum EarlierKey: String, CaseIterable {
    case identifier = "device-identifier-key"
    case pending = "device-key-pending"
    case device = "device-key"

    /// The key store's name for such a key, without its random suffix.
    var label: String {
        switch self {
        case .identifier: "identifier"
        case .pending, .device: "device"
        }
    }
}

/// Reads ``Holdings`` from ``EarlierRecord``, and returns the changes that replace these by documents.
struct EarlierRecordsReader {
    /// The contents of the records that are not keys, by name.
    let records: [String: SecretBytes]
    /// The new references of the existing keys.
    let keys: [EarlierKey: KeyReference]

    /// `nil` when none of these records exists.
    ///
    /// - Parameters:
    ///   - names: of all records of the gateway.
    ///   - records: the contents of those that are not keys.
    /// - Throws: `CryptographyError` when the system has no random bytes.
    init?(names: Set<String>, records: [String: SecretBytes]) throws {
        let present = EarlierKey.allCases.filter { names.contains($0.rawValue) }
        guard !present.isEmpty || EarlierRecord.allCases.contains(where: { names.contains($0.rawValue) }) else {
            return nil
        }
        self.records = records
        var keys: [EarlierKey: KeyReference] = [:]
        for key in present {
            keys[key] = try KeyReference.fresh(.software, label: key.label)
        }
        self.keys = keys
    }

    /// The changes, for one commit, that replace these records by documents and move the keys to the key store.
    func migration(to holdings: Holdings, scope: String) -> [Change] {
        keys.map { .adoptKey(from: RecordName(scope: scope, name: $0.key.rawValue), as: $0.value) }
            + HoldingsChanges.documents(of: holdings, scope: scope)
            + EarlierRecord.allCases.map { .remove(RecordName(scope: scope, name: $0.rawValue)) }
    }

    /// The stored state, without the private keys.
    ///
    /// - Throws: ``GatewayError/deviceRecordInvalid(reason:)`` when related records are inconsistent.
    func holdings(at now: Moment) throws -> Holdings {
        Holdings(
            identifierKey: keys[.identifier], pendingKey: keys[.pending], device: try device(),
            rest: HoldingsReader(records: records).rest(),
            client: client(), board: tokens(.board, at: now), user: user(at: now))
    }

    private func content(_ record: EarlierRecord) -> SecretBytes? { records[record.rawValue] }
    private func terms(_ record: EarlierRecord) -> JSON? { HoldingsReader.json(content(record)) }

    private func chain(_ record: EarlierRecord) throws -> [Certificate] {
        guard let content = content(record) else { return [] }
        do {
            return try Certificate.all(inPEM: content.exposedText())
        } catch {
            throw GatewayError.deviceRecordInvalid(reason: "\(record.rawValue) holds no certificates")
        }
    }

    private func device() throws -> Device? {
        let chain = try chain(.certificates)
        guard let key = keys[.device], !chain.isEmpty, let terms = terms(.registration) else {
            guard keys[.device] == nil, chain.isEmpty, content(.registration) == nil else {
                throw GatewayError.deviceRecordInvalid(reason: "a part of it is missing")
            }
            return nil
        }
        guard let magIdentifier = terms["mag_identifier"]?.string,
            let registeredAt = HoldingsReader.date(terms["registered_at"])
        else { throw GatewayError.deviceRecordInvalid(reason: "it has no mag-identifier") }
        return Device(
            key: key, chain: chain, magIdentifier: magIdentifier, isActive: terms["active"]?.bool ?? true,
            registeredAt: registeredAt, renewedAt: HoldingsReader.date(terms["renewed_at"]),
            renewedChain: try self.chain(.renewedCertificates))
    }

    private func client() -> ClientCredentials? {
        guard let secret = content(.clientSecret), let terms = terms(.client),
            let masterID = terms["master_id"]?.string, let id = terms["id"]?.string
        else { return nil }
        return ClientCredentials(
            masterID: masterID,
            authentication: ClientAuthentication(
                id: id, secret: secret, expires: HoldingsReader.date(terms["expires"])),
            isStatic: terms["static"]?.bool ?? false)
    }

    /// Absent in vaults from before users were supported.
    private func user(at now: Moment) -> HeldUser? {
        guard let terms = terms(.user), let loggedInAt = HoldingsReader.date(terms["logged_in_at"]) else { return nil }
        let tokens = tokens(.user, at: now)
        return tokens.isEmpty ? nil : HeldUser(name: terms["name"]?.string, loggedInAt: loggedInAt, tokens: tokens)
    }

    private func tokens(_ place: EarlierRecord.Tokens, at now: Moment) -> HeldTokens {
        HeldTokens(access: accessToken(place, at: now), refresh: content(place.refresh), id: idToken(place))
    }

    private func accessToken(_ place: EarlierRecord.Tokens, at now: Moment) -> HeldToken? {
        guard let value = content(place.access), let terms = terms(place.accessTerms),
            let receivedAt = HoldingsReader.date(terms["received_at"]), let lifetime = terms["lifetime"]?.number
        else { return nil }
        return HeldToken(
            value: value, lifetime: lifetime, scope: terms["scope"]?.string ?? "", receivedAt: receivedAt,
            at: now.date, uptime: now.uptime)
    }

    private func idToken(_ place: EarlierRecord.Tokens) -> HeldIDToken? {
        guard let value = content(place.id), let terms = terms(place.idTerms), let type = terms["type"]?.string else {
            return nil
        }
        return HeldIDToken(value: value, type: type, expires: HoldingsReader.date(terms["expires"]))
    }
}
