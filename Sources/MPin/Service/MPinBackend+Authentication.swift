public import Cryptography
import FoundationEssentials
import Groundwork

/// Logging in by PIN (MPIN 5.8 to 5.10, 6).
extension MPinBackend {
    /// Logs in at the application behind the back end.
    ///
    /// - Parameter pin: the one of the registration.
    /// - Returns: what the application answered, a JSON object.
    /// - Throws: ``MPinError``: ``MPinError/incorrectPIN(place:status:)``, ``MPinError/blocked(place:status:)``, after
    ///   which the token is erased, and others
    public func finishAuthentication(_ user: MPinUser, pin: SecretBytes) async throws -> String {
        try await alone(endsWithCaller: true) { backend in
            let login = try await backend.logIn(user, pin)
            return String(decoding: login.verdict.bytes, as: UTF8.self)
        }
    }

    /// Logs in, and asks for a one-time password.
    ///
    /// - Throws: as ``finishAuthentication(_:pin:)``; what is wrong with the password alone is its status.
    public func finishAuthenticationOTP(_ user: MPinUser, pin: SecretBytes) async throws -> MPinOneTimePassword {
        try await alone(endsWithCaller: true) { backend in
            let login = try await backend.logIn(user, pin, demandsPassword: true)
            return MPinOneTimePassword(login.passTwo.password, login.verdict.json)
        }
    }

    /// Logs in a browser, which shows an access number, or an access code in a QR code.
    ///
    /// - Throws: as ``finishAuthentication(_:pin:)``; ``MPinError/accessNumberInvalid`` for an empty number,
    ///   ``MPinError/accessNumberUnknown(place:status:)``
    public func finishAuthentication(_ user: MPinUser, pin: SecretBytes, accessNumber: String) async throws {
        try await alone(endsWithCaller: true) { backend in
            guard !accessNumber.isEmpty else { throw MPinError.accessNumberInvalid }
            let login = try await backend.logIn(user, pin, accessNumber: accessNumber)
            backend.held?[user.id]?.logOut = LogOutOrder(login.verdict.json)
        }
    }

    /// Logs in for an authorization code.
    ///
    /// - Throws: as ``finishAuthentication(_:pin:)``; ``MPinError/answerInvalid(place:reason:)`` without a code
    public func finishAuthenticationMFA(_ user: MPinUser, pin: SecretBytes) async throws -> SecretBytes {
        try await alone(endsWithCaller: true) { backend in
            let login = try await backend.logIn(user, pin)
            return SecretBytes(utf8: try login.verdict.requiredText("code"))
        }
    }

    /// Whether an access number may be sent: by its check digit, if the back end has them (MPIN 5.13).
    ///
    /// - Throws: ``MPinError/accessNumberInvalid``
    public func checkAccessNumber(_ number: String) throws(MPinError) {
        let settings = try connected()
        guard
            AccessNumber.isAcceptable(
                number, digits: Int(clamping: settings.accessNumberDigits), usesCheckDigit: settings.checksAccessNumbers
            )
        else { throw .accessNumberInvalid }
    }

    private typealias Login = (passTwo: PassTwoAnswer, verdict: Answer)

    private func logIn(
        _ user: MPinUser, _ pin: SecretBytes, demandsPassword: Bool = false, accessNumber: String? = nil
    ) async throws -> Login {
        let held = try find(user, in: [.registered])
        let usesPermits = try connected().usesPermits
        guard !usesPermits || held.permit != nil else {
            throw MPinError.stepMissing(step: "the start of the login")
        }
        let factor = try Self.factor(of: pin)
        let token = try await token(of: held)
        // A failed login leaves none either.
        if accessNumber != nil { self.held?[held.id]?.logOut = nil }
        var permit: TimePermit?
        if usesPermits {
            permit = held.permit?.obtained == today ? held.permit?.permit : try await obtainPermit(of: held)
        }
        let passOne = try Self.passOne(held.identity, token, factor, permit)
        let passTwo = try await exchangePasses(passOne, held.identity, demandsPassword, accessNumber ?? "0")
        do {
            let verdict = try await verdict(passTwo, isMobile: accessNumber != nil)
            killPoint("mpin-verdict-answered")
            return (passTwo, verdict)
        } catch MPinError.incorrectPIN(let place, let status) {
            // Whatever the disk says, an attempt was used.
            if usesPermits { try? await doubtPermit(of: held.id) }
            throw MPinError.incorrectPIN(place: place, status: status)
        } catch MPinError.blocked(let place, let status) {
            try await block(held)
            throw MPinError.blocked(place: place, status: status)
        }
    }

    private static func passOne(
        _ identity: MPinID, _ token: MPinToken, _ factor: PINFactor, _ permit: TimePermit?
    ) throws(MPinError) -> PassOne {
        try computed { () throws(CurveError) in
            try PassOne(identity: identity, token: token, factor: factor, permit: permit)
        }
    }

    private func token(of user: HeldMPinUser) async throws -> MPinToken {
        guard case .token(let encoding) = try await store.read().secrets[user.identity] else {
            throw MPinError.tokenMissing(user: user.id)
        }
        return try Self.computed { () throws(CurveError) in try MPinToken(encoding: encoding) }
    }

    /// MPIN 5.8 and 5.9. The first pass serves one second one, and is wiped however this ends.
    private func exchangePasses(
        _ passOne: consuming PassOne, _ identity: MPinID, _ demandsPassword: Bool, _ accessNumber: String
    ) async throws -> PassTwoAnswer {
        let place = try address(.passes)
        let first: JSON = [
            "pass": 1, "mpin_id": .string(identity.hex),
            "UT": .string(passOne.datedCommitment.map { Hex.encode($0.encoding) } ?? ""),
            "U": .string(Hex.encode(passOne.commitment.encoding)),
        ]
        let answer = try await exchange.answer(.init(.passOne, "POST", place, "/pass1", body: first.bytes))
        killPoint("mpin-pass-one-answered")
        let challenge = try answer.octets("y")
        guard challenge.count == 32 else {
            throw MPinError.answerInvalid(place: answer.place, reason: "its y has not 64 digits")
        }
        let validator: G1Point
        do {
            validator = try passOne.validator(for: challenge)
        } catch {
            throw MPinError.cryptography(error)
        }
        let second: JSON = [
            "pass": 2, "OTP": .bool(demandsPassword), "WID": .string(accessNumber),
            "V": .string(Hex.encode(validator.encoding)), "mpin_id": .string(identity.hex),
        ]
        killPoint("mpin-validator-made")
        let answerToSecond = try await exchange.answer(.init(.passTwo, "POST", place, "/pass2", body: second.bytes))
        killPoint("mpin-pass-two-answered")
        return try PassTwoAnswer(answerToSecond)
    }

    /// MPIN 5.10.
    private func verdict(_ passTwo: PassTwoAnswer, isMobile: Bool) async throws -> Answer {
        let place = try address(isMobile ? .mobileAuthenticate : .authenticate)
        var order = MPinExchange.Order(.verdict, "POST", place, body: passTwo.verdictBody)
        if isMobile { order.timeout = MPinExchange.patience }
        return try await exchange.answer(order)
    }

    /// The user is blocked from here on, even if the vault does not take it.
    private func block(_ user: HeldMPinUser) async throws {
        var user = user
        (user.state, user.cachedPermit, user.permit, user.logOut) = (.blocked, nil, nil, nil)
        held?[user.id] = user
        let (identity, entry) = (user.identity, user.entry)
        killPoint("mpin-blocked-answered")
        try await commit { stored in
            stored.entries[identity] = entry
            stored.secrets[identity] = nil
        }
        killPoint("mpin-blocked-committed")
    }
}
