import Foundation
import Groundwork

/// What clients learn before anything else (MPIN 5.3, 5.4).
extension GatewayCore {
    func serviceDetails(now: Date) -> WireResponse {
        .json([
            "name": "Latchkey lab", "url": .string(mpinURL), "rps_prefix": "rps",
            "logo_url": .string(mpinURL + "/logo.png"), "type": .string(mpinPolicy.serviceType),
        ])
    }

    mutating func clientSettings() throws -> WireResponse {
        let (policy, appID) = (mpinPolicy, try mpinState().appID)
        var members: [String: JSON] = [
            "appID": .string(appID), "usePermits": .bool(policy.usePermits),
            "accessNumberUseCheckSum": .bool(policy.checkDigits),
            "accessNumberDigits": .integer(Int64(policy.numberDigits)), "cSum": .integer(Int64(policy.checkMethod)),
            "setDeviceName": .bool(policy.setDeviceName), "requestOTP": true, "useWebSocket": false,
            "mpinAuthServerURL": address("/rps"), "certivoxURL": address("-dta/"),
            "timePermitsStorageURL": policy.permitStorage ? address("-permits") : "",
        ]
        for (name, path) in [
            ("registerURL", "/rps/user"), ("signatureURL", "/rps/signature"), ("timePermitsURL", "/rps/timePermit"),
            ("authenticateURL", "/mpinAuthenticate"), ("mobileAuthenticateURL", "/rps/authenticate"),
            ("getAccessNumberURL", "/rps/getAccessNumber"), ("accessNumberURL", "/rps/access"),
            ("getQrUrl", "/rps/getQrUrl"),
        ] {
            members[name] = address(path)
        }
        if policy.codeStatus { members["codeStatusURL"] = address("/rps/codeStatus") }
        for name in policy.leaveOut { members[name] = nil }
        return .json(.object(members))
    }

    /// - Parameter path: what follows the back end's address. What is beside the back end has no relative address.
    private func address(_ path: String) -> JSON {
        switch mpinPolicy.settingsForm {
        case .relative where path.hasPrefix("/"): .string(path)
        case .relative, .absolute: .string(mpinURL + path)
        case .websocket: .string("wss" + mpinURL.dropFirst("https".count) + path)
        }
    }
}
