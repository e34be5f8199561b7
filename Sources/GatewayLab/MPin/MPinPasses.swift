import Cryptography
import Foundation
import Groundwork

/// The two passes of an authentication (MPIN 5.8, 5.9). Pass 2 is answered in the same way whether or not the PIN was
/// right.
extension GatewayCore {
    mutating func passOne(_ request: WireRequest, now: Date) throws -> WireResponse {
        let body = try MPinBody(request, ["pass", "mpin_id", "UT", "U"], status: 403)
        try body.require("pass", 1)
        let id = Hex.encode(try body.hex("mpin_id"))
        guard try mpinState().users[id]?.status == .issued else {
            throw MPinRefusal(status: 403, text: "the user is not known")
        }
        let commitment = try body.hex("U", count: G1Point.byteCount)
        var dated: [UInt8]?
        if mpinPolicy.usePermits {
            dated = try body.hex("UT", count: G1Point.byteCount)
        } else if body.members["UT"] != "" {
            throw MPinRefusal.form(403, "UT is not an empty text, though time permits are not used")
        }
        for point in [commitment, dated].compactMap(\.self) {
            do {
                _ = try G1Point(encoding: point)
            } catch {
                throw MPinRefusal.form(403, "U or UT is not a point of the curve")
            }
        }
        // Two validators of one x give away what the token is for: no client may commit itself to it again (MPIN 2.8).
        guard mpin.isFirst(commitment, of: id) else { throw MPinRefusal.form(403, "U was sent before") }
        let y = try MPinNumber.random()
        mpin.passes[id] = MPinSessions.Pass(
            commitment: dated ?? commitment, y: y, isDated: dated != nil,
            endsAt: now + TimeInterval(mpinPolicy.passLife))
        return .json(["y": .string(Hex.encode(y)), "pass": 1, "message": "OK", "version": "0.3"])
    }

    mutating func passTwo(_ request: WireRequest, now: Date) throws -> WireResponse {
        let body = try MPinBody(request, ["pass", "OTP", "WID", "V", "mpin_id"], status: 403)
        try body.require("pass", 2)
        let (isForPassword, session) = (try body.flag("OTP"), try body.text("WID"))
        let (id, validator) = (try body.hex("mpin_id"), try body.hex("V", count: G1Point.byteCount))
        guard !isForPassword || session == "0" else { throw MPinRefusal.form(403, "OTP requires the WID \"0\"") }
        // Good for one pass 2 alone.
        guard let pass = mpin.passes.removeValue(forKey: Hex.encode(id)) else {
            throw MPinRefusal(status: 500, text: "there is no pass 1, or it has ended")
        }
        let authorities = MPinAuthorities(state: try mpinState())
        // In the first hour of a day, clients may still have yesterday's permit.
        let days = [0, 3600].map { MPinNumber.day(now - $0) }
        let isRight = days.contains { authorities.accepts(validator, id: id, pass: pass, day: $0) }
        let authOTT = Hex.encode(try Random.bytes(16))
        // Clients have to hand on what they do not know, too (MPIN checklist 25).
        var reply: [String: JSON] = [
            "authOTT": .string(authOTT), "pass": 2, "version": "0.3",
            "lab": ["list": [1, nil, true, "ä \" \\"], "fraction": 1.5, "empty": [:]],
        ]
        if isForPassword { reply["OTP"] = .string(try Random.bytes(6).map { String($0 % 10) }.joined()) }
        mpin.verdicts[authOTT] = MPinSessions.Verdict(
            id: Hex.encode(id), status: count(isRight, of: Hex.encode(id)), reply: .object(reply),
            isForPassword: isForPassword, session: session, endsAt: now + TimeInterval(mpinPolicy.verdictLife))
        return .json(.object(reply))
    }

    /// Counts failures in a row, and blocks the user at the limit (MPIN 5.10).
    /// - Returns: the status of the verdict.
    private mutating func count(_ isRight: Bool, of id: String) -> Int {
        guard var user = state.mpin?.users[id], !user.isBlocked else { return 410 }
        user.failures = isRight ? 0 : user.failures + 1
        user.isBlocked = user.failures >= mpinPolicy.limit
        state.mpin?.users[id] = user
        return isRight ? 200 : user.isBlocked ? 410 : 401
    }
}
