import Foundation
import Groundwork

/// M-Pin for the admin API. All calls are below `mpin`.
extension AdminAPI {
    /// - Parameter path: what follows `mpin`.
    /// - Returns: `nil` if there is no such call.
    /// - Throws: ``BadInput``, ``LabError``
    func mpin(_ method: String, _ path: ArraySlice<String>, _ input: JSON) async throws -> JSON? {
        let path = Array(path)
        switch (method, path.first, path.count) {
        case ("GET", "secrets", 1): return try await mpinSecrets()
        case ("POST", "settings", 1):
            try await lab.changeMPinPolicy { try $0.change(by: input) }
            return await lab.mpinPolicy().json
        case ("POST", "codes", 1):
            guard let user = input["user"]?.string, !user.isEmpty else { throw BadInput(text: "user is missing") }
            return ["code": .string(try await lab.issueMPinCode(for: user))]
        case ("POST", "browsers", 1):
            let browser = try await lab.openMPinBrowser(withQRCode: input["qr"]?.bool ?? false)
            return browser.json(at: lab.clock.now)
        case ("POST", "users", 3):
            let name = path[1].removingPercentEncoding ?? path[1]
            if path[2] == "activate" {
                let code = try input["code"].map { code in
                    guard let text = code.string, !text.isEmpty else { throw BadInput(text: "the code is missing") }
                    return text
                }
                try await lab.activateMPin(name, code: code)
            } else {
                guard let action = MPinAction(rawValue: path[2]) else { return nil }
                try await lab.changeMPin(name, action)
            }
            return [:]
        default: return nil
        }
    }

    /// The master secrets of both D-TAs and the application's key, with which a test can compute all that a server
    /// computes.
    private func mpinSecrets() async throws -> JSON {
        let state = try await lab.store.change { try $0.mpinState() }
        return [
            "master_secret1": .string(Hex.encode(state.secretOne)),
            "master_secret2": .string(Hex.encode(state.secretTwo)),
            "app_id": .string(state.appID), "app_key": .string(state.appKey),
        ]
    }

    /// The part of the page's state.
    func mpinState() async -> JSON {
        let violations = await lab.mpinViolations()
        return [
            "url": .string(lab.mpinURL), "settings": await lab.mpinPolicy().json,
            "users": .array(await lab.mpinUsers().map(user)),
            "browsers": .array(
                await lab.mpinBrowsers().sorted { $0.startsAt > $1.startsAt }.prefix(10).map { browser in
                    [
                        "code": .string(browser.code), "status": .string(browser.status.rawValue),
                        "url": browser.url.map(JSON.string) ?? .null, "web_ott": .string(browser.webOTT),
                        "user": browser.user.map(JSON.string) ?? .null,
                        "ends_at": .integer(browser.endsAt.epochSeconds),
                    ]
                }),
            "violations": .array(violations.suffix(20).map(JSON.string)),
            "violation_count": .integer(Int64(violations.count)),
        ]
    }

    private func user(_ user: LabMPinUser) -> JSON {
        [
            "id": .string(user.id), "user": .string(user.user), "status": .string(user.status.rawValue),
            "device_name": user.deviceName.map(JSON.string) ?? .null,
            "user_data": user.userData.map(JSON.string) ?? .null,
            "push_token": user.pushToken.map(JSON.string) ?? .null,
            "activation_code": user.activationCode.map(JSON.string) ?? .null,
            "failures": .integer(Int64(user.failures)), "blocked": .bool(user.isBlocked),
            "revoked": .bool(user.isRevoked), "expired": .bool(user.isExpired),
            "registered_at": .integer(user.registeredAt.epochSeconds),
            "expires_at": .integer(user.expiresAt.epochSeconds),
            "last_login": user.lastLogin.map { .integer($0.epochSeconds) } ?? .null,
            "one_time_password": user.oneTimePassword.map(JSON.string) ?? .null,
        ]
    }
}
