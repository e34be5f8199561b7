import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// What comes before a PIN is asked for: who logs in where, and the day's time permit (MPIN 5.7, 5.11).
extension MPinBackend {
    /// Reports who is about to log in, and obtains the time permit of the day, which then serves several logins.
    ///
    /// - Parameter accessCode: of a scanned code, so that the browser can show who it is.
    /// - Throws: ``MPinError``: ``MPinError/revoked(place:status:)`` and others
    public func startAuthentication(_ user: MPinUser, accessCode: String? = nil) async throws {
        try await alone(endsWithCaller: true) { backend in
            let held = try backend.find(user, in: [.registered])
            if let accessCode, !accessCode.isEmpty { try await backend.report(held, accessCode) }
            if try backend.connected().usesPermits { try await backend.obtainPermit(of: held) }
        }
    }

    /// Whatever comes of it: the login does not depend on it.
    private func report(_ user: HeldMPinUser, _ accessCode: String) async throws {
        guard let place = try? address(.codeStatus) else { return }
        let body: JSON = ["status": "user", "wid": .string(accessCode), "userId": .string(user.id)]
        _ = try? await exchange.answer(.init(.codeStatus, "POST", place, body: body.bytes))
        try Task.checkCancellation()
    }

    /// The day by this board's clock.
    var today: Int64 { Int64((clock().timeIntervalSince1970 / 86_400).rounded(.down)) }

    /// Obtains both shares of the permit. Must run in an operation.
    @discardableResult
    func obtainPermit(of user: HeldMPinUser) async throws -> TimePermit {
        var user = user
        let day = today
        let answer = try await exchange.answer(
            .init(.timePermitOne, "GET", try address(.timePermits), "/" + user.identity.hex))
        let first = try FirstPermitAnswer(answer, of: user.identity)
        let second = try await secondShare(of: user, first)
        let permit = try Self.computed { () throws(CurveError) in
            try TimePermit(date: first.date, shares: first.share, second)
        }
        let share = TimePermitShare(date: first.date, point: second)
        if user.cachedPermit != share {
            user.cachedPermit = share
            let (identity, entry) = (user.identity, user.entry)
            killPoint("mpin-permit-obtained")
            try await commit { $0.entries[identity] = entry }
        }
        user.permit = HeldPermit(permit: permit, obtained: day)
        held?[user.id] = user
        return permit
    }

    /// A login failed: what was wrong may be the permit's share, and not the PIN. So that it does not use up the user's
    /// attempts, it is obtained again, and from the second authority itself.
    func doubtPermit(of id: String) async throws {
        guard var user = held?[id], let permit = user.permit else { return }
        user.cachedPermit = TimePermitShare(date: permit.permit.date, point: nil)
        user.permit?.obtained = nil
        held?[id] = user
        let (identity, entry) = (user.identity, user.entry)
        killPoint("mpin-permit-doubted")
        try await commit { $0.entries[identity] = entry }
    }

    /// From the vault, where permits are published, or from the second authority: the first that has it.
    private func secondShare(of user: HeldMPinUser, _ first: FirstPermitAnswer) async throws -> G1Point {
        let cached = user.cachedPermit?.date == first.date ? user.cachedPermit : nil
        if let point = cached?.point { return point }
        if cached == nil, let published = try await published(first) { return published }
        let query =
            "timePermit?hash_mpin_id=\(first.storageID)&app_id=\(PercentEncoding.encode(try connected()["appID"]))"
            + "&mobile=1&signature=\(first.signature)"
        let answer = try await exchange.answer(
            .init(.timePermitTwo, "GET", try address(.secondAuthority), query))
        return try answer.point("timePermit")
    }

    /// - Returns: `nil` whatever goes wrong: then the second authority is asked.
    private func published(_ first: FirstPermitAnswer) async throws -> G1Point? {
        guard let place = try? address(.timePermitsStorage) else { return nil }
        let path = "/\(PercentEncoding.encode(try connected()["appID"]))/\(first.date.days)/\(first.storageID)"
        var order = MPinExchange.Order(.timePermitTwo, "GET", place, path)
        order.timeout = .seconds(10)
        let response = try? await exchange.response(order, limit: PublishedPermit.limit)
        try Task.checkCancellation()
        guard let response, response.status == 200 else { return nil }
        return PublishedPermit.point(response.body)
    }
}
