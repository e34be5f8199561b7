import Cryptography
import Foundation
import Groundwork

/// The verdict (MPIN 5.10) and what follows from it.
extension GatewayCore {
    /// The relying party's, without an access number.
    mutating func verdict(_ request: WireRequest, now: Date) throws -> WireResponse {
        let (verdict, user) = try outcome(of: request, now: now)
        guard verdict.session == "0" else {
            throw MPinRefusal.form("an access number was given, so the verdict is elsewhere")
        }
        try refuse(verdict, user)
        state.mpin?.users[user.id]?.lastLogin = now
        var members: [String: JSON] = ["userId": .string(user.user), "message": "Welcome", "session": [1, "ä", nil]]
        if verdict.isForPassword {
            let life = mpinPolicy.passwordLife
            let end = now + TimeInterval(life)
            state.mpin?.users[user.id]?.oneTimePassword = verdict.reply["OTP"]?.string
            state.mpin?.users[user.id]?.oneTimePasswordEnds = end
            members["expireTime"] = MPinNumber.milliseconds(end)
            members["nowTime"] = MPinNumber.milliseconds(now)
            members["ttlSeconds"] = .integer(Int64(life))
        } else {
            members["code"] = .string(Hex.encode(try Random.bytes(16)))
        }
        var answer = WireResponse.json(.object(members))
        answer.note = "M-Pin user \(user.user) logged in"
        return answer
    }

    /// With an access number, by the RPS.
    mutating func mobileVerdict(_ request: WireRequest, now: Date) throws -> WireResponse {
        let (verdict, user) = try outcome(of: request, now: now)
        guard verdict.session != "0" else {
            throw MPinRefusal.form("no access number was given, so the verdict is elsewhere")
        }
        guard let browser = openBrowser(verdict.session, now: now) else {
            throw MPinRefusal(status: 412, text: "the access number is not known, or has ended")
        }
        try refuse(verdict, user)
        state.mpin?.users[user.id]?.lastLogin = now
        let authOTT = Hex.encode(try Random.bytes(16))
        mpin.browsers[browser]?.status = .authenticate
        mpin.browsers[browser]?.user = user.user
        mpin.browsers[browser]?.authOTT = authOTT
        let proof: JSON = ["sessionToken": .string(Hex.encode(try Random.bytes(16))), "userId": .string(user.user)]
        mpin.logouts[proof.text] = user.user
        if mpin.logouts.count > MPinSessions.limit { mpin.logouts = [proof.text: user.user] }
        var answer =
            switch mpinPolicy.logout {
            case .object: WireResponse.json(["logoutURL": "/logout", "logoutData": proof])
            case .text: WireResponse.json(["logoutURL": "/logout", "logoutData": .string(proof.text)])
            case .absolute: WireResponse.json(["logoutURL": .string(mpinURL + "/logout"), "logoutData": proof])
            case .none: WireResponse.json([:])
            }
        answer.note = "M-Pin user \(user.user) logged in a browser"
        if mpinPolicy.waitsForBrowser { answer.awaitsBrowser = browser }
        return answer
    }

    /// What pass 2 found, once, for the client that hands on its answer.
    private mutating func outcome(of request: WireRequest, now: Date) throws -> (MPinSessions.Verdict, LabMPinUser) {
        let reply = try MPinBody(request, ["mpinResponse"]).members["mpinResponse"] ?? .null
        guard let authOTT = reply["authOTT"]?.string, let verdict = mpin.verdicts.removeValue(forKey: authOTT),
            let user = try mpinState().users[verdict.id]
        else { throw MPinRefusal(status: 408, text: "the authentication is not known, or has expired") }
        guard reply == verdict.reply else {
            throw MPinRefusal.form("mpinResponse is not what pass 2 was answered")
        }
        return (verdict, user)
    }

    private func refuse(_ verdict: MPinSessions.Verdict, _ user: LabMPinUser) throws {
        switch verdict.status {
        case 200: break
        case 410: throw MPinRefusal(status: 410, text: "the user is blocked")
        default: throw MPinRefusal(status: verdict.status, text: "the PIN is not right")
        }
        guard !user.isExpired else { throw MPinRefusal(status: 409, text: "the client secret has expired") }
        guard !mpinPolicy.refusedLogins.contains(user.user) else {
            throw MPinRefusal(status: 403, text: "the user is not allowed to log in")
        }
    }

    /// Ends the browser's session of a client (MPIN 5.12).
    mutating func logOutOfMPin(_ request: WireRequest) throws -> WireResponse {
        guard let proof = try? JSON(parsing: request.body), proof.object != nil,
            let user = mpin.logouts.removeValue(forKey: proof.text)
        else { throw MPinRefusal.form("the body is not the logoutData of a log-in") }
        return WireResponse(status: 200, note: "M-Pin user \(user) logged out")
    }
}
