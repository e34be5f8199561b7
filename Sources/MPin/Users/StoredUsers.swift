import Cryptography
import Groundwork

/// What is stored of a back end's users, in two documents: who they are, and what is secret of them (MPIN 9). Pure.
struct StoredUsers: Equatable {
    /// What is secret of a user.
    enum Secret: Equatable {
        /// The one-time text of a registration that is not finished.
        case registration(SecretBytes)
        case token(SecretBytes)
    }

    struct Entry: Equatable {
        /// Of the M-Pin ID, from which it is read.
        let id: String
        let state: MPinUserState
        let deviceName: String?
        /// The second authority's share, of the day it was obtained for.
        let permit: TimePermitShare?
    }

    struct Invalid: Error {}

    /// The most bytes of each document.
    static let limit = 1 << 20

    var entries: [MPinID: Entry] = [:]
    var secrets: [MPinID: Secret] = [:]

    init() {}

    // MARK: Writing

    /// - Parameter key: the back end's.
    func users(of key: String) -> JSON {
        var users: [String: JSON] = [:]
        for (identity, entry) in entries {
            var members: [String: JSON] = ["state": .string(entry.state.rawValue)]
            members["deviceName"] = entry.deviceName.map(JSON.string)
            members["timePermitCache"] = [
                "date": .integer(Int64(entry.permit?.date.days ?? 0)),
                "timePermit": .string((entry.permit?.point).map { Hex.encode($0.encoding) } ?? ""),
            ]
            users[identity.hex] = .object(members)
        }
        return [key: .object(users)]
    }

    var secretDocument: JSON {
        var members: [String: JSON] = [:]
        for (identity, secret) in secrets {
            switch secret {
            case .registration(let text): members[identity.hex] = ["regOTT": .string(text.exposedText())]
            case .token(let token): members[identity.hex] = ["token": .string(Hex.encode(token.exposed()))]
            }
        }
        return .object(members)
    }

    // MARK: Reading

    /// - Parameters:
    ///   - users: `nil` if there is no such document; `secrets` likewise.
    ///   - key: the back end's; a document of another one is refused.
    init(users: [UInt8]?, secrets: [UInt8]?, key: String) throws(Invalid) {
        for (identity, content) in try Self.members(secrets) {
            self.secrets[try Self.identity(identity)] = try Self.secret(content)
        }
        let document = try Self.members(users)
        guard document.keys.allSatisfy({ $0 == key }) else { throw Invalid() }
        for (name, content) in try Self.members(document[key] ?? [:]) {
            let identity = try Self.identity(name)
            entries[identity] = try Self.entry(content, of: identity)
        }
        guard Set(entries.values.map(\.id)).count == entries.count else { throw Invalid() }
        for (identity, entry) in entries { try check(entry.state, self.secrets[identity]) }
    }

    /// A registered user's token may be missing: that is found when it is needed.
    private func check(_ state: MPinUserState, _ secret: Secret?) throws(Invalid) {
        switch (state, secret) {
        case (.startedRegistration, .registration), (.activated, .registration), (.registered, .token),
            (.registered, nil), (.blocked, .token), (.blocked, nil):
            break
        default: throw Invalid()
        }
    }

    private static func members(_ document: [UInt8]?) throws(Invalid) -> [String: JSON] {
        guard let document else { return [:] }
        guard let json = try? JSON(parsing: document, limit: limit) else { throw Invalid() }
        return try members(json)
    }

    private static func members(_ json: JSON) throws(Invalid) -> [String: JSON] {
        guard let members = json.object else { throw Invalid() }
        return members
    }

    private static func identity(_ hex: String) throws(Invalid) -> MPinID {
        // One spelling, so that no identity can be there twice.
        guard let identity = MPinID(hex: hex), identity.hex == hex else { throw Invalid() }
        return identity
    }

    private static func entry(_ json: JSON, of identity: MPinID) throws(Invalid) -> Entry {
        guard let id = identity.userID, !id.isEmpty, let state = json["state"]?.string.flatMap(MPinUserState.init),
            state != .invalid
        else { throw Invalid() }
        let name = json["deviceName"]
        guard name == nil || name?.string != nil else { throw Invalid() }
        return Entry(id: id, state: state, deviceName: name?.string, permit: try permit(json["timePermitCache"]))
    }

    private static func permit(_ json: JSON?) throws(Invalid) -> TimePermitShare? {
        guard let json else { return nil }
        guard let date = json["date"]?.integer, let text = json["timePermit"]?.string else { throw Invalid() }
        // Of a day, it is the share that was part of a login that failed.
        guard !text.isEmpty else { return MPinDate(days: date).map { TimePermitShare(date: $0, point: nil) } }
        guard let date = MPinDate(days: date), let octets = Hex.decode(text),
            let point = try? G1Point(encoding: octets)
        else { throw Invalid() }
        return TimePermitShare(date: date, point: point)
    }

    private static func secret(_ json: JSON) throws(Invalid) -> Secret {
        guard let members = json.object, members.count == 1 else { throw Invalid() }
        if let text = members["regOTT"]?.string, !text.isEmpty { return .registration(SecretBytes(utf8: text)) }
        guard let octets = members["token"]?.string.flatMap(Hex.decode), octets.count == G1Point.byteCount else {
            throw Invalid()
        }
        return .token(SecretBytes(octets))
    }
}
