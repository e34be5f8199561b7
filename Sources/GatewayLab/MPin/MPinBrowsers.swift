import Cryptography
import Foundation
import Groundwork

/// The browser's side of a log-in with an access number or a QR code, and its details for clients (MPIN 5.11).
extension GatewayCore {
    /// Answers what browsers ask, and the verification of a user by the relying party: their headers are not a
    /// client's.
    mutating func answerBrowser(_ request: WireRequest, at endpoint: Endpoint, now: Date) throws -> WireResponse? {
        let body = try? JSON(parsing: request.body)
        switch endpoint {
        case .mpinNumber, .mpinQRCode:
            let browser = try openBrowserSession(withQRCode: endpoint == .mpinQRCode, now: now)
            return .json(browser.json(at: now))
        case .mpinPoll, .mpinOldPoll:
            guard let webOTT = body?["webOTT"]?.string else {
                throw MPinRefusal(status: 400, text: "webOTT is missing")
            }
            return poll(webOTT, isOld: endpoint == .mpinOldPoll, now: now)
        case .mpinUser where request.method == "POST": return try activate(request, key: body?["activateKey"]?.string)
        case .mpinVerdict:
            guard let authOTT = body?["mpinResponse"]?["authOTT"]?.string,
                let browser = mpin.browsers.first(where: { $0.value.authOTT == authOTT && !$0.value.isReleased })
            else { return nil }
            mpin.browsers[browser.key]?.isReleased = true
            return .json(["userId": browser.value.user.map(JSON.string) ?? .null, "message": "Welcome"])
        default: return nil
        }
    }

    mutating func openBrowserSession(withQRCode: Bool, now: Date) throws -> LabMPinBrowser {
        let policy = mpinPolicy
        let code =
            withQRCode
            ? Hex.encode(try Random.bytes(16)) : try MPinNumber.accessNumber(checked: policy.numberDigits == 7)
        let browser = LabMPinBrowser(
            webOTT: Hex.encode(try Random.bytes(16)), code: code, url: withQRCode ? "\(mpinURL)#\(code)" : nil,
            startsAt: now, endsAt: now + TimeInterval(policy.numberLife))
        guard mpin.browsers.count < MPinSessions.limit else {
            throw MPinRefusal(status: 500, text: "the lab has too many access numbers")
        }
        mpin.browsers[browser.webOTT] = browser
        return browser
    }

    /// The key of the session with an access number or code, while it can be logged in.
    func openBrowser(_ code: String, now: Date) -> String? {
        mpin.browsers.first { _, browser in
            browser.code == code && browser.authOTT == nil
                && browser.endsAt + TimeInterval(MPinPolicy.grace) > now
        }?.key
    }

    private func poll(_ webOTT: String, isOld: Bool, now: Date) -> WireResponse {
        let browser = mpin.browsers[webOTT]
        let status = browser?.status(at: now) ?? .expired
        if isOld {
            guard status == .authenticate, let authOTT = browser?.authOTT else {
                return .json(["message": "not yet"], status: 401)
            }
            return .json(["authOTT": .string(authOTT)])
        }
        return .json([
            "status": .string(status.rawValue), "statusCode": 0, "userId": .string(browser?.user ?? ""),
            "redirectURL": "", "authOTT": .string(browser?.authOTT ?? ""),
        ])
    }

    /// What a client says about a session: that it has its code, or which user it will log in.
    mutating func codeStatus(_ request: WireRequest, now: Date) throws -> WireResponse {
        guard mpinPolicy.codeStatus else { throw MPinRefusal.form("code status is switched off") }
        let isOfUser = (try? JSON(parsing: request.body))?["status"] == "user"
        let body = try MPinBody(request, isOfUser ? ["status", "wid", "userId"] : ["status", "wid"])
        guard try isOfUser || body.text("status") == "wid" else {
            throw MPinRefusal.form("status is neither wid nor user")
        }
        let (code, user) = (try body.text("wid"), isOfUser ? try body.text("userId") : nil)
        guard let browser = openBrowser(code, now: now) else { return .json(["Status": "OK"]) }
        mpin.browsers[browser]?.status = isOfUser ? .user : .wid
        if let user { mpin.browsers[browser]?.user = user }
        let isUpper = mpinPolicy.upperCaseDetails
        return .json([
            isUpper ? "PrerollId" : "prerollId": .string(user ?? "preroll@lab.example"),
            isUpper ? "AppName" : "appName": "Latchkey lab",
            isUpper ? "AppLogoUrl" : "appLogoURL": .string(mpinURL + "/logo.png"),
        ])
    }

    /// The relying party has verified a user, as by the link of a mail.
    private mutating func activate(_ request: WireRequest, key: String?) throws -> WireResponse {
        let id = try mpinID(in: request, at: .mpinUser)
        let held = try mpinState()
        guard let user = held.users[id], let regOTT = user.regOTT,
            key == MPinAuthorities(state: held).signature(id, regOTT)
        else { throw MPinRefusal(status: 401, text: "the activation key is not known") }
        state.mpin?.users[id]?.status = .active
        state.mpin?.users[id]?.activationCode = nil
        return .json([:])
    }
}

extension LabMPinBrowser {
    func status(at now: Date) -> Status {
        status != .authenticate && endsAt + TimeInterval(MPinPolicy.grace) <= now ? .expired : status
    }

    /// As browsers get it.
    func json(at now: Date) -> JSON {
        var members: [String: JSON] = [
            "ttlSeconds": .integer(Int64(endsAt.timeIntervalSince(startsAt))), "webOTT": .string(webOTT),
            "localTimeStart": MPinNumber.milliseconds(startsAt), "localTimeEnd": MPinNumber.milliseconds(endsAt),
        ]
        if let url { members["qrUrl"] = .string(url) } else { members["accessNumber"] = .string(code) }
        return .object(members)
    }
}
