public import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// Registration: from a name to a token (MPIN 5.5 to 5.6b, 6).
extension MPinBackend {
    /// Asks the back end for an identity.
    ///
    /// - Parameters:
    ///   - user: of ``makeUser(_:deviceName:)``.
    ///   - activateCode: with which the back end need not verify the user otherwise.
    ///   - userData: handed on for verifying the user.
    /// - Returns: the user, who is verified now or is yet to be.
    /// - Throws: ``MPinError``; the user is then not registered, and nothing is stored.
    public func startRegistration(
        _ user: MPinUser, activateCode: SecretBytes? = nil, userData: String? = nil
    ) async throws -> MPinUser {
        try await alone { backend in
            try backend.connected()
            guard user.backend == backend.key else { throw MPinError.noSuchUser }
            guard user.state == .invalid else { throw MPinError.wrongState(user: user.id, state: user.state) }
            guard try backend.requireOpen()[user.id] == nil else { throw MPinError.userExists(user: user.id) }
            var members: [String: JSON] = [:]
            members["userData"] = userData.flatMap { $0.isEmpty ? nil : .string($0) }
            members["activateCode"] = activateCode.flatMap { $0.count == 0 ? nil : .string($0.exposedText()) }
            let answer = try await backend.register(user.id, user.deviceName, members)
            let held = HeldMPinUser(
                serial: user.serial, id: user.id, identity: answer.identity, state: answer.state,
                deviceName: user.deviceName)
            try await backend.keep(held, insteadOf: nil, answer.text)
            return backend.shown(held)
        }
    }

    /// Asks again for the user to be verified. The back end may issue another identity for it.
    ///
    /// - Throws: ``MPinError``; nothing has changed then.
    public func restartRegistration(_ user: MPinUser, userData: String? = nil) async throws -> MPinUser {
        try await alone { backend in
            var held = try backend.find(user, in: [.startedRegistration])
            var members: [String: JSON] = [
                "regOTT": .string(try await backend.registrationText(of: held).exposedText())
            ]
            members["userData"] = userData.flatMap { $0.isEmpty ? nil : .string($0) }
            let answer = try await backend.register(held.id, held.deviceName, members, again: held.identity)
            let former = held.identity
            (held.identity, held.state, held.shares) = (answer.identity, answer.state, .none)
            held.cachedPermit = nil
            try await backend.keep(held, insteadOf: former, answer.text)
            return backend.shown(held)
        }
    }

    /// Obtains the client secret from both trust authorities, once the user is verified.
    ///
    /// If the second one does not answer, a call within a minute goes on there: the first one answers only once.
    ///
    /// - Parameter pushIdentifier: by which the back end can send messages to this device.
    /// - Throws: ``MPinError``: ``MPinError/identityNotVerified(place:status:)`` as long as the user is not, and others
    public func confirmRegistration(_ user: MPinUser, pushIdentifier: String? = nil) async throws -> MPinUser {
        try await alone { backend in
            var held = try backend.find(user, in: [.startedRegistration, .activated])
            if case .both = held.shares { return backend.shown(held) }
            if case .first(_, _, let until) = held.shares, backend.clock() < until {
            } else {
                held.shares = try await backend.firstShare(of: held, pushIdentifier)
                backend.held?[held.id] = held
                killPoint("mpin-first-share-obtained")
            }
            guard case .first(let first, let query, _) = held.shares else { return backend.shown(held) }
            do {
                held.shares = .both(first, try await backend.secondShare(query))
            } catch MPinError.requestExpired(let place, let status) {
                backend.held?[held.id]?.shares = .none
                throw MPinError.requestExpired(place: place, status: status)
            }
            backend.held?[held.id] = held
            killPoint("mpin-shares-obtained")
            return backend.shown(held)
        }
    }

    /// Makes the token of the client secret and the PIN, which is forgotten.
    ///
    /// - Parameter pin: printable ASCII; two such texts in a few thousand are equivalent.
    /// - Throws: ``MPinError``: ``MPinError/pinInputCanceled`` for an empty one; a later call with another goes on.
    public func finishRegistration(_ user: MPinUser, pin: SecretBytes) async throws -> MPinUser {
        try await alone { backend in
            var held = try backend.find(user, in: [.startedRegistration, .activated])
            guard case .both(let first, let second) = held.shares else {
                throw MPinError.stepMissing(step: "the confirmation of the registration")
            }
            let factor = try Self.factor(of: pin)
            let identity = held.identity
            let token = try Self.computed { () throws(CurveError) in
                try MPinToken(shares: first, second, of: identity, without: factor)
            }
            (held.state, held.shares, held.cachedPermit) = (.registered, .none, nil)
            let entry = held.entry
            killPoint("mpin-token-made")
            // In one commit: no state says that there is a token where there is none.
            try await backend.commit { stored in
                stored.secrets[identity] = .token(token.encoding)
                stored.entries[identity] = entry
            }
            backend.held?[held.id] = held
            killPoint("mpin-token-committed")
            return backend.shown(held)
        }
    }

    // MARK: Steps

    private typealias Registration = (identity: MPinID, text: SecretBytes, state: MPinUserState)

    /// MPIN 5.5.
    private func register(
        _ id: String, _ deviceName: String?, _ members: [String: JSON], again identity: MPinID? = nil
    ) async throws -> Registration {
        var members = members
        members["userId"] = .string(id)
        members["mobile"] = 1
        members["deviceName"] = deviceName.map(JSON.string)
        let answer = try await exchange.answer(
            .init(
                .registration, "PUT", try address(.registration), identity.map { "/" + $0.hex } ?? "",
                body: JSON.object(members).bytes))
        let registration = try RegistrationAnswer(answer, of: id)
        return (
            registration.identity, registration.text, registration.isActive ? .activated : .startedRegistration
        )
    }

    private func keep(_ user: HeldMPinUser, insteadOf former: MPinID?, _ text: SecretBytes) async throws {
        killPoint("mpin-registration-answered")
        try await commit { stored in
            if let former {
                stored.entries[former] = nil
                stored.secrets[former] = nil
            }
            stored.entries[user.identity] = user.entry
            stored.secrets[user.identity] = .registration(text)
        }
        held?[user.id] = user
        killPoint("mpin-registration-committed")
    }

    private func registrationText(of user: HeldMPinUser) async throws -> SecretBytes {
        guard case .registration(let text) = try await store.read().secrets[user.identity] else {
            throw MPinError.recordInvalid(account: name)
        }
        return text
    }

    /// MPIN 5.6.
    private func firstShare(of user: HeldMPinUser, _ pushIdentifier: String?) async throws -> ClientSecretShares {
        let text = try await registrationText(of: user).exposedText()
        var query = "/\(user.identity.hex)?regOTT=\(PercentEncoding.encode(text))"
        if let pushIdentifier, !pushIdentifier.isEmpty {
            query += "&pmiToken=\(PercentEncoding.encode(pushIdentifier))"
        }
        let answer = try await exchange.answer(
            .init(.clientSecretOne, "GET", try address(.signature), query))
        let first = try FirstShareAnswer(answer, of: user.identity)
        return .first(
            first.share, query: first.query, until: clock().addingTimeInterval(ClientSecretShares.lifetime))
    }

    /// MPIN 5.6b.
    private func secondShare(_ query: String) async throws -> G1Point {
        let base = try address(.secondAuthority)
        let answer = try await exchange.answer(.init(.clientSecretTwo, "GET", base, "clientSecret?" + query))
        return try answer.point("clientSecret")
    }

    // MARK: Computing

    /// - Throws: ``MPinError/pinInputCanceled`` for an empty PIN, ``MPinError/pinNotPrintable``
    static func factor(of pin: SecretBytes) throws(MPinError) -> PINFactor {
        do {
            return try PINFactor(secret: pin)
        } catch {
            switch error {
            case .empty: throw .pinInputCanceled
            case .notPrintable: throw .pinNotPrintable
            }
        }
    }

    static func computed<Value: ~Copyable>(_ compute: () throws(CurveError) -> Value) throws(MPinError) -> Value {
        do {
            return try compute()
        } catch {
            throw .cryptography(error)
        }
    }
}
