import Foundation
import Groundwork

/// A log-in that a client began and that a person can decide about (MAG 7).
public struct LabAuthorization: Sendable, Equatable {
    public enum Status: String, Sendable {
        case waiting
        /// The client has not used the code yet.
        case authorized
        case used
        case denied
        /// Nobody decided in time, or the code was not used in time.
        case ended
    }

    /// As it stands in its URLs.
    public var id: String
    /// The device that asks, if it is registered.
    public var magIdentifier: String?
    public var scopes: [String]
    public var status: Status
    /// Who authorized it.
    public var user: String?
    /// Until it is authorized; after that, until the code is used.
    public var expiresAt: Date
}

/// Who is logged in, and who wants to be.
extension Lab {
    /// The users with a living session or token on each device, by mag-identifier, in alphabetical order.
    public func loggedIn() async -> [String: [String]] {
        let now = clock.now
        return await desk.read { $0.state.loggedIn(now).mapValues { $0.sorted() } }
    }

    /// Those that ended recently are among them. Ordered by their end.
    public func authorizations() async -> [LabAuthorization] {
        let now = clock.now
        return await desk.read { core in
            core.authorizations.values.map { LabAuthorization($0, now: now) }.sorted { $0.expiresAt < $1.expiresAt }
        }
    }

    /// As if `user` had authorized the log-in with a device of theirs.
    /// - Parameter id: of the session, or a URL that ends with it.
    /// - Throws: `LabError.noSuch` for a user, or a session that is unknown, ended or decided.
    public func authorize(_ id: String, as user: String) async throws {
        guard configuration.users.contains(where: { $0.name == user }) else {
            throw LabError.noSuch(thing: "user", name: user)
        }
        let id = Self.sessionID(id)
        let now = clock.now
        try await desk.change { core in
            do {
                let session = try core.openAuthorization(id, at: .deviceAuthorization, now: now)
                try core.grant(session, to: user, at: .deviceAuthorization, now: now)
            } catch is GatewayFault {
                throw LabError.noSuch(thing: "open log-in", name: id)
            }
        }
        journal.record(.session, "\(user) authorized a log-in through an administrator", at: now)
    }

    /// As if a person had refused the log-in: its client is answered …123.
    /// - Throws: `LabError.noSuch`
    public func refuse(_ id: String) async throws {
        let id = Self.sessionID(id)
        let now = clock.now
        try await desk.change { core in
            guard core.authorizations[id]?.isOpen(now) == true else {
                throw LabError.noSuch(thing: "open log-in", name: id)
            }
            core.authorizations[id]?.progress = .denied(suffix: 123)
        }
        journal.record(.session, "log-in refused by an administrator", at: now)
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
