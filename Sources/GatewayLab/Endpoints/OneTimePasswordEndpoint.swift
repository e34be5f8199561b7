import Cryptography
import Foundation
import Groundwork

/// E16, and the demand for a one-time password at any endpoint with an access token (MAG 6.6, checklist 65).
extension GatewayCore {
    /// What is answered in place of the endpoint; `nil` if the call may pass.
    mutating func demandOneTimePassword(
        _ request: WireRequest, at endpoint: Endpoint, now: Date
    ) throws -> WireResponse? {
        let policy = oneTimePasswords.policy
        guard policy.endpoints.contains(endpoint) else { return nil }
        let token = try bearer(of: request, at: endpoint, scope: nil, now: now)
        let owner = token.user ?? token.magIdentifier
        if let end = oneTimePasswords.opened[token.value], end > now { return nil }
        if let refusal = refuseBarred(owner, now: now) { return refusal }
        guard let given = request.header("x-otp") else { return required() }
        guard var sent = oneTimePasswords.sent[owner], let password = sent.password else { return required() }
        guard sent.expiresAt > now else {
            oneTimePasswords.sent[owner]?.password = nil
            return refusal(143, status: 400, "expired", "The one-time password has expired", retry: sent.triesLeft)
        }
        guard equalInConstantTime(Array(password.utf8), Array(given.utf8)) else {
            sent.triesLeft -= 1
            guard sent.triesLeft > 0 else {
                (sent.password, sent.barredUntil) = (nil, now + TimeInterval(policy.suspension))
                oneTimePasswords.sent[owner] = sent
                return refuseBarred(owner, now: now)
            }
            oneTimePasswords.sent[owner] = sent
            return refusal(
                142, status: 401, "invalid", "The one-time password is invalid", retry: sent.triesLeft, channels: true)
        }
        (sent.password, sent.triesLeft) = (nil, policy.tries)
        oneTimePasswords.sent[owner] = sent
        if policy.remembers > 0 {
            oneTimePasswords.opened[token.value] = now + TimeInterval(policy.remembers)
        }
        return nil
    }

    /// E16: sends a password by the channels that `X-OTP-CHANNEL` names.
    mutating func sendOneTimePassword(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .oneTimePassword, scope: nil, now: now)
        let (owner, policy) = (token.user ?? token.magIdentifier, oneTimePasswords.policy)
        if let refusal = refuseBarred(owner, now: now) { return refusal }
        let channels = (request.header("x-otp-channel") ?? "").split(separator: ",").map(\.trimmed)
        guard !channels.isEmpty, channels.allSatisfy(policy.channels.contains) else {
            throw GatewayFault(
                Endpoint.oneTimePassword.errorPrefix + 400, "invalid_request",
                "X-OTP-CHANNEL must name channels of \(policy.channels.joined(separator: ", "))")
        }
        let former = oneTimePasswords.sent[owner]
        let recent = former?.deliveries.filter { $0 > now - TimeInterval(policy.suspension) } ?? []
        guard recent.count < policy.deliveries else {
            return refusal(144, status: 403, nil, "Too many one-time passwords", interval: policy.suspension)
        }
        let isRested = former.map { $0.barredUntil != nil || $0.triesLeft < 1 } ?? true
        let password = try Random.bytes(6).map { String($0 % 10) }.joined()
        oneTimePasswords.sent[owner] = LabOneTimePassword(
            owner: owner, password: password, channels: channels,
            expiresAt: now + TimeInterval(policy.life), triesLeft: isRested ? policy.tries : former?.triesLeft ?? 0,
            deliveries: recent + [now])
        var response = WireResponse.json([:])
        response.headers.append(("X-OTP", "generated"))
        response.note = "one-time password sent to \(owner) by \(channels.joined(separator: ", "))"
        return response
    }

    private func required() -> WireResponse {
        refusal(140, status: 401, "required", "Enter the one-time password", "otp_select_channel", channels: true)
    }

    private func refuseBarred(_ owner: String, now: Date) -> WireResponse? {
        guard let end = oneTimePasswords.sent[owner]?.barredUntil, end > now else { return nil }
        return refusal(
            145, status: 403, "suspended", "The user is suspended", retry: -1,
            interval: Int(end.timeIntervalSince(now).rounded(.up)))
    }

    /// Its headers have exactly the spelling that the known clients look for (MAG checklist 67).
    private func refusal(
        _ suffix: Int, status: Int, _ word: String?, _ text: String, _ error: String = "invalid_request",
        retry: Int? = nil, interval: Int? = nil, channels: Bool = false
    ) -> WireResponse {
        var response = GatewayFault(8_000_000 + suffix, status: status, error, text).response
        let policy = oneTimePasswords.policy
        guard policy.hasHeaders else { return response }
        if let word { response.headers.append(("X-OTP", word)) }
        if channels { response.headers.append(("X-OTP-CHANNEL", policy.channels.joined(separator: ","))) }
        if let retry { response.headers.append(("X-OTP-RETRY", String(retry))) }
        if let interval { response.headers.append(("X-OTP-RETRY-INTERVAL", String(interval))) }
        return response
    }
}
