import Foundation
import Groundwork

/// What an administrator can do to a user of the M-Pin back end.
public enum MPinAction: String, Sendable, CaseIterable {
    case block, unblock, revoke, restore
    /// The client secret expires: its verdicts are 409.
    case expire
    case remove
}

/// The M-Pin back end, its users, and the browsers that the lab plays.
extension Lab {
    /// The back end's address, for clients.
    public var mpinURL: String { baseURL + "/mpin" }

    /// Ordered by their registration.
    public func mpinUsers() async -> [LabMPinUser] {
        await store.read { core in
            (core.state.mpin?.users ?? [:]).values.sorted { ($0.registeredAt, $0.id) < ($1.registeredAt, $1.id) }
        }
    }

    /// Verifies a user, as by the link or with the code of a mail.
    /// - Parameters:
    ///   - name: an M-Pin ID, or a user id, whose latest registration counts.
    ///   - code: has to be the code of the mail; `nil` for the link.
    /// - Throws: `LabError.noSuch`
    public func activateMPin(_ name: String, code: String? = nil) async throws {
        let user = try await mpinUser(name)
        guard user.status == .started else {
            throw LabError.noSuch(thing: "registration to be verified of", name: name)
        }
        guard code == nil || code == user.activationCode else {
            throw LabError.noSuch(thing: "such activation code of", name: name)
        }
        try await store.change { core in
            core.state.mpin?.users[user.id]?.status = .active
            core.state.mpin?.users[user.id]?.activationCode = nil
        }
        journal.record(.session, "M-Pin user \(user.user) activated", at: clock.now)
    }

    /// A code with which one new user with this user id is active at once.
    public func issueMPinCode(for user: String) async throws -> String {
        let code = try GatewayCore.newActivationCode()
        try await store.change { core in
            _ = try core.mpinState()
            core.state.mpin?.codes[user] = code
        }
        journal.record(.session, "activation code issued for M-Pin user \(user)", at: clock.now)
        return code
    }

    /// - Parameter name: an M-Pin ID, or a user id, whose latest registration counts.
    /// - Throws: `LabError.noSuch`
    public func changeMPin(_ name: String, _ action: MPinAction) async throws {
        let user = try await mpinUser(name)
        try await store.change { core in
            guard var changed = core.state.mpin?.users[user.id] else { return }
            switch action {
            case .block: changed.isBlocked = true
            case .unblock: (changed.isBlocked, changed.failures) = (false, 0)
            case .revoke: changed.isRevoked = true
            case .restore: (changed.isRevoked, changed.isExpired) = (false, false)
            case .expire: changed.isExpired = true
            case .remove: break
            }
            core.state.mpin?.users[user.id] = action == .remove ? nil : changed
        }
        journal.record(.session, "M-Pin user \(user.user): \(action.rawValue)", at: clock.now)
    }

    private func mpinUser(_ name: String) async throws -> LabMPinUser {
        guard let user = await mpinUsers().last(where: { $0.id == name || $0.user == name }) else {
            throw LabError.noSuch(thing: "M-Pin user", name: name)
        }
        return user
    }

    public func mpinPolicy() async -> MPinPolicy { await store.read { $0.mpinPolicy } }

    public func changeMPinPolicy(_ change: @Sendable (inout MPinPolicy) throws -> Void) async throws {
        try await store.change { try change(&$0.mpinPolicy) }
        journal.record(.lab, "M-Pin settings changed", at: clock.now)
    }

    /// What clients did against the protocol, oldest first; bounded.
    public func mpinViolations() async -> [String] { await store.read { $0.mpin.violations } }

    /// Plays a browser that wants to be logged in.
    public func openMPinBrowser(withQRCode: Bool = false) async throws -> LabMPinBrowser {
        try await store.change { try $0.openBrowserSession(withQRCode: withQRCode, now: clock.now) }
    }

    /// In no particular order.
    public func mpinBrowsers() async -> [LabMPinBrowser] {
        let now = clock.now
        return await store.read { core in
            core.mpin.browsers.values.map { browser in
                var browser = browser
                browser.status = browser.status(at: now)
                return browser
            }
        }
    }
}
