import Cryptography
import Foundation
import Groundwork

/// Registration, up to the two shares of the client secret (MPIN 5.5, 5.6).
extension GatewayCore {
    mutating func registerMPinUser(_ request: WireRequest, now: Date) throws -> WireResponse {
        let known: String? =
            request.path == Endpoint.mpinUser.path ? nil : try mpinID(in: request, at: .mpinUser)
        let body = try MPinBody(
            request, known == nil ? ["userId", "mobile"] : ["userId", "mobile", "regOTT"],
            optional: known == nil ? ["deviceName", "userData", "activateCode"] : ["deviceName", "userData"])
        try body.require("mobile", 1)
        let name = try body.text("userId")
        guard name.utf8.count <= 256 else { throw MPinRefusal(status: 400, text: "the user id is too long") }
        guard !mpinPolicy.refusedUsers.contains(name) else {
            throw MPinRefusal(status: 403, text: "the user is not allowed to register")
        }
        var user: LabMPinUser
        if let known {
            user = try restarted(known, name: name, regOTT: try body.text("regOTT"), now: now)
        } else {
            user = try newUser(name, now: now)
            if let code = try body.optionalText("activateCode") {
                guard try mpinState().codes[name] == code else {
                    throw MPinRefusal(status: 403, text: "the activation code is not right")
                }
                state.mpin?.codes[name] = nil
                user.status = .active
            }
        }
        if mpinPolicy.activation == .forced { user.status = .active }
        user.activationCode = user.status == .active ? nil : try Self.newActivationCode()
        user.deviceName = try body.optionalText("deviceName") ?? user.deviceName
        user.userData = try body.optionalText("userData") ?? user.userData
        guard try mpinState().users.count < MPinSessions.limit else {
            throw MPinRefusal(status: 500, text: "the lab has too many users")
        }
        state.mpin?.users[user.id] = user
        var answer = WireResponse.json([
            "mpinId": .string(request.lie == .otherUser ? try newUser("mallory", now: now).id : user.id),
            "regOTT": .string(user.regOTT ?? ""), "active": .bool(user.status == .active),
            "expireTime": .string(MPinNumber.time(user.expiresAt)), "nowTime": .string(MPinNumber.time(now)),
        ])
        answer.note = "M-Pin user \(name) " + (user.status == .active ? "is active" : "was sent an activation code")
        return answer
    }

    /// The registration as it was, or a new one if it has ended.
    private mutating func restarted(_ id: String, name: String, regOTT: String, now: Date) throws -> LabMPinUser {
        // Fetching the secret has ended a registration, and its proof with it: it begins anew, as after its time (MPIN
        // 9).
        let isOver = try mpinState().users[id]?.status == .issued
        guard let user = try mpinState().users[id], isOver || user.regOTT == regOTT, user.user == name else {
            throw MPinRefusal(status: 400, text: "there is no such registration")
        }
        guard isOver || user.expiresAt <= now else { return user }
        if !isOver { state.mpin?.users[id] = nil }
        var renewed = try newUser(name, now: now)
        (renewed.deviceName, renewed.userData) = (user.deviceName, user.userData)
        return renewed
    }

    /// Its M-Pin ID is not written as any encoder of JSON would: clients have to take it as bytes.
    private func newUser(_ name: String, now: Date) throws -> LabMPinUser {
        let issued = MPinNumber.time(now).replacing("T", with: " ").replacing("Z", with: ".000000")
        let text = """
            {"mobile": 1, "issued": "\(issued)", "userID": \(JSON.string(name).text), \
            "salt": "\(Hex.encode(try Random.bytes(16)))"}
            """
        return LabMPinUser(
            id: Hex.encode(text.utf8), user: name, status: .started, regOTT: Hex.encode(try Random.bytes(16)),
            registeredAt: now, expiresAt: now + TimeInterval(mpinPolicy.registrationLife))
    }

    static func newActivationCode() throws -> String { try Random.bytes(6).map { String($0 % 10) }.joined() }

    /// Share 1 of the client secret, which ends the registration.
    mutating func clientSecretShare(_ request: WireRequest, now: Date) throws -> WireResponse {
        let id = try mpinID(in: request, at: .mpinSignature)
        let query = try mpinQuery(request, ["regOTT"], optional: ["pmiToken"], status: 400)
        guard query["pmiToken"] != "" else { throw MPinRefusal.form("pmiToken is empty, so it must not be there") }
        let held = try mpinState()
        guard var user = held.users[id], let regOTT = user.regOTT else {
            throw MPinRefusal(status: 400, text: "there is no such registration")
        }
        guard regOTT == query["regOTT"], user.expiresAt > now else {
            state.mpin?.users[id] = nil
            throw MPinRefusal(status: 400, text: "the registration has expired, or regOTT is wrong")
        }
        guard user.status == .active else { throw MPinRefusal(status: 401, text: "the user is not verified yet") }
        user.status = .issued
        (user.regOTT, user.activationCode, user.pushToken) = (nil, nil, query["pmiToken"])
        let hash = MPinNumber.hash(Hex.decode(id) ?? [])
        let share = try MPinAuthorities(state: held).share(.one, of: hash, lie: request.lie)
        let named = request.lie == .otherUser ? MPinNumber.hash(hash) : hash
        state.mpin?.users[id] = user
        return .json([
            "clientSecretShare": .string(Hex.encode(share)),
            "params": .string(params(Hex.encode(named), held, now: now)),
            "message": "OK", "version": "0.3",
        ])
    }

    /// In no particular order, and with an empty value, as clients have to hand it on unchanged (MPIN checklist 20).
    private mutating func params(_ hash: String, _ held: MPinState, now: Date) -> String {
        let expires = MPinNumber.time(now + TimeInterval(mpinPolicy.requestLife))
        let signature = MPinAuthorities(state: held).signature("clientSecret", held.appID, hash, expires)
        let text =
            "mobile=1&expires=\(percentEncoded(expires))&app_id=\(held.appID)&hash_mpin_id=\(hash)&hash_user_id=&"
            + "signature=\(signature)"
        mpin.params[text] = now + TimeInterval(10 * mpinPolicy.requestLife)
        return text
    }

    /// D-TA 2's share of the client secret.
    mutating func secondSecretShare(_ request: WireRequest, now: Date) throws -> WireResponse {
        let query = try mpinQuery(
            request, ["mobile", "expires", "app_id", "hash_mpin_id", "hash_user_id", "signature"], status: 403)
        guard let hash = MPinNumber.bytes(query["hash_mpin_id"] ?? "", count: 32), query["mobile"] == "1",
            let expires = query["expires"], let ends = try? Date(expires, strategy: .iso8601)
        else { throw MPinRefusal.form(403, "an argument is malformed") }
        let authorities = MPinAuthorities(state: try mpinState())
        let signed = authorities.signature(
            "clientSecret", query["app_id"] ?? "", Hex.encode(hash), query["hash_user_id"] ?? "", expires)
        guard query["app_id"] == authorities.state.appID, query["signature"] == signed else {
            throw MPinRefusal.form(401, "the signature is not right")
        }
        guard mpin.params[request.query] != nil else {
            throw MPinRefusal.form(403, "params was not passed on unchanged")
        }
        guard ends > now else { throw MPinRefusal(status: 408, text: "the request has expired") }
        let share = try authorities.share(.two, of: hash, lie: request.lie)
        return .json(["clientSecret": .string(Hex.encode(share)), "message": "OK", "version": "0.3"])
    }
}
