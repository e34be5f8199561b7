import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// Reads ``Holdings`` back.
struct HoldingsReader {
    let records: [HoldingsRecord: SecretBytes]

    static func load(_ vault: Vault, scope: String) async throws -> HoldingsReader {
        var records: [HoldingsRecord: SecretBytes] = [:]
        for record in HoldingsRecord.allCases {
            records[record] = try await vault.record(RecordName(scope: scope, name: record.rawValue))?.content
        }
        return HoldingsReader(records: records)
    }

    /// - Throws: ``GatewayError/deviceRecordInvalid(reason:)`` when records that belong together do not fit.
    func holdings(at now: Date, uptime: Duration) throws -> Holdings {
        Holdings(
            identifierKey: try key(.identifierKey), pendingKey: try key(.pendingKey), device: try device(),
            renewedChain: try chain(.renewedCertificates), rest: rest(), client: client(),
            tokens: tokens(of: .board, at: now, uptime: uptime), user: user(at: now, uptime: uptime))
    }

    private func key(_ record: HoldingsRecord) throws -> PrivateKey? {
        guard let content = records[record] else { return nil }
        do {
            return try PrivateKey(pkcs8: content)
        } catch {
            throw GatewayError.deviceRecordInvalid(reason: "\(record.rawValue) is not a private key")
        }
    }

    private func chain(_ record: HoldingsRecord) throws -> [Certificate] {
        guard let content = records[record] else { return [] }
        do {
            return try Certificate.all(inPEM: content.exposedText())
        } catch {
            throw GatewayError.deviceRecordInvalid(reason: "\(record.rawValue) holds no certificates")
        }
    }

    private func device() throws -> Device? {
        let chain = try chain(.certificates)
        guard let key = try key(.deviceKey), let leaf = chain.first, let terms = terms(.registration) else {
            guard records[.deviceKey] == nil, chain.isEmpty, records[.registration] == nil else {
                throw GatewayError.deviceRecordInvalid(reason: "a part of it is missing")
            }
            return nil
        }
        guard leaf.publicKey == key.publicKey else {
            throw GatewayError.deviceRecordInvalid(reason: "the certificate is not for the key")
        }
        guard let magIdentifier = terms["mag_identifier"]?.string, let registeredAt = Self.date(terms["registered_at"])
        else {
            throw GatewayError.deviceRecordInvalid(reason: "it has no mag-identifier")
        }
        return Device(
            key: key, chain: chain, magIdentifier: magIdentifier, isActive: terms["active"]?.bool ?? true,
            registeredAt: registeredAt, renewedAt: Self.date(terms["renewed_at"]))
    }

    private func rest() -> RegistrationRest? {
        guard let terms = terms(.rest) else { return nil }
        return terms["code"]?.integer.map { .withdrawn(code: Int($0)) } ?? .byPerson
    }

    private func client() -> ClientCredentials? {
        guard let secret = records[.clientSecret], let terms = terms(.client),
            let masterID = terms["master_id"]?.string,
            let id = terms["id"]?.string
        else { return nil }
        return ClientCredentials(
            masterID: masterID,
            authentication: ClientAuthentication(id: id, secret: secret, expires: Self.date(terms["expires"])),
            isStatic: terms["static"]?.bool ?? false)
    }

    /// Absent in vaults of a time before there were users.
    private func user(at now: Date, uptime: Duration) -> HeldUser? {
        guard let terms = terms(.user), let loggedInAt = Self.date(terms["logged_in_at"]) else { return nil }
        let tokens = tokens(of: .user, at: now, uptime: uptime)
        return tokens.isEmpty ? nil : HeldUser(name: terms["name"]?.string, loggedInAt: loggedInAt, tokens: tokens)
    }

    private func tokens(of principal: Principal, at now: Date, uptime: Duration) -> HeldTokens {
        let place = HoldingsRecord.tokens(of: principal)
        return HeldTokens(
            access: accessToken(in: place, at: now, uptime: uptime), refresh: records[place.refresh],
            id: idToken(in: place))
    }

    private func accessToken(in place: HoldingsRecord.TokenRecords, at now: Date, uptime: Duration) -> HeldToken? {
        guard let value = records[place.access], let terms = terms(place.accessTerms),
            let receivedAt = Self.date(terms["received_at"]), let lifetime = terms["lifetime"]?.number
        else { return nil }
        return HeldToken(
            value: value, lifetime: lifetime, scope: terms["scope"]?.string ?? "", receivedAt: receivedAt, at: now,
            uptime: uptime)
    }

    private func idToken(in place: HoldingsRecord.TokenRecords) -> HeldIDToken? {
        guard let value = records[place.id], let terms = terms(place.idTerms), let type = terms["type"]?.string else {
            return nil
        }
        return HeldIDToken(value: value, type: type, expires: Self.date(terms["expires"]))
    }

    private func terms(_ record: HoldingsRecord) -> JSON? {
        records[record].flatMap { try? JSON(parsing: $0.exposed()) }
    }

    private static func date(_ value: JSON?) -> Date? { value?.number.map { Date(timeIntervalSince1970: $0) } }
}
