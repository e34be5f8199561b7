import Foundation
import Groundwork

/// A login that a client started and that a user can decide about (MAG 7).
public struct LabAuthorization: Sendable, Equatable {
    public enum Status: String, Sendable {
        case waiting
        /// The client has not used the code yet.
        case authorized
        case used
        case denied
        /// It was not decided in time, or the code was not used in time.
        case ended
    }

    /// The identifier in its URLs.
    public var id: String
    /// The requesting device, if it is registered.
    public var magIdentifier: String?
    public var scopes: [String]
    public var status: Status
    /// The user who authorized it.
    public var user: String?
    /// When it expires: until it is authorized, its own end; afterwards, that of the code.
    public var expiresAt: Date
}

/// Logged-in users and pending logins.
extension Lab {
    /// The users with a valid session or token on each device, by mag-identifier, in alphabetical order.
    public func loggedIn() async -> [String: [String]] {
        let now = clock.now
        return await store.read { $0.state.loggedIn(now).mapValues { $0.sorted() } }
    }

    /// Includes logins that ended recently. Ordered by their end.
    public func authorizations() async -> [LabAuthorization] {
        let now = clock.now
        return await store.read { core in
            core.authorizations.values.map { LabAuthorization($0, now: now) }.sorted { $0.expiresAt < $1.expiresAt }
        }
    }

    /// Authorizes a login, as if `user` had done so with another device.
    /// - Parameter id: the session's id, or a URL that ends with it.
    /// - Throws: `LabError.noSuch` for an unknown user, or a session that is unknown, ended or decided.
    public func authorize(_ id: String, as user: String) async throws {
        guard configuration.users.contains(where: { $0.name == user }) else {
            throw LabError.noSuch(thing: "user", name: user)
        }
        let id = Self.sessionID(id)
        let now = clock.now
        try await store.change { core in
            do {
                let session = try core.openAuthorization(id, at: .deviceAuthorization, now: now)
                try core.grant(session, to: user, at: .deviceAuthorization, now: now)
            } catch is GatewayFault {
                throw LabError.noSuch(thing: "open login", name: id)
            }
        }
        journal.record(.session, "\(user) authorized a login through an administrator", at: now)
    }

    /// A JWT with which one of the lab's people can log in for five minutes, as an identity provider would issue it.
    /// - Throws: `LabError.noSuch`
    public func mintToken(for user: String) async throws -> String {
        guard configuration.users.contains(where: { $0.name == user }) else {
            throw LabError.noSuch(thing: "user", name: user)
        }
        let now = clock.now
        return try await store.read { try $0.outsideToken(for: user, now: now) }
    }

    /// Ends the sessions of a device, so that its id_tokens are refused; tokens stay.
    public func revokeSessions(of magIdentifier: String) async throws {
        try await store.change { core in
            core.state.sessions = core.state.sessions.filter { $0.value.magIdentifier != magIdentifier }
        }
        journal.record(.session, "sessions ended by an administrator", magIdentifier: magIdentifier, at: clock.now)
    }

    /// Refuses a login, as if the user had: its client is answered with an `x-ca-err` ending in 123.
    /// - Throws: `LabError.noSuch`
    public func refuse(_ id: String) async throws {
        let id = Self.sessionID(id)
        let now = clock.now
        try await store.change { core in
            guard core.authorizations[id]?.isOpen(now) == true else {
                throw LabError.noSuch(thing: "open login", name: id)
            }
            core.authorizations[id]?.progress = .denied(suffix: 123)
        }
        journal.record(.session, "login refused by an administrator", at: now)
    }

    private static func sessionID(_ text: String) -> String {
        text.split(separator: "/").last.map(String.init) ?? text
    }
}

extension LabAuthorization {
    init(_ session: Authorization, now: Date) {
        id = session.id
        magIdentifier = session.magIdentifier
        scopes = session.scopes
        user = session.code?.user
        switch session.progress {
        case .waiting: status = .waiting
        case .authorized: status = .authorized
        case .used: status = .used
        case .denied: status = .denied
        }
        expiresAt = session.code?.expiresAt ?? session.expiresAt
        if [.waiting, .authorized].contains(status), !session.isOpen(now) { status = .ended }
    }
}
