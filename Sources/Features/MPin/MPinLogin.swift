import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import MPin
import Prompts

/// A user of an M-Pin account, as a request names one.
struct MPinUserReference: Sendable {
    let account: MPinAccount
    let name: AccountName
    let id: String

    /// For a question: `alice@example.com at door`.
    var shown: String { "\(DisplayText.clean(id)) at \(name)" }

    /// A question for a PIN, which may be corrected twice; the back end counts wrong ones for itself.
    func question(_ text: String, _ answerers: PromptQuestion.Answerers) -> PromptQuestion {
        PromptQuestion(.pin, text, answerers: answerers, attempts: 3, about: .account(userName: id))
    }
}

extension MPinLoginResult {
    /// For the program that asked; with secrets.
    var json: JSON {
        var members: [String: JSON] = [
            "user": .string(user), "by": .string(way.rawValue), "canLogOut": .bool(canLogOut),
        ]
        members["answer"] = answer
        members["code"] = code.map { .string($0.exposedText()) }
        if let password {
            var otp: [String: JSON] = [
                "status": .string(password.status.rawValue), "ttlSeconds": .integer(password.ttlSeconds),
                "expireTime": .integer(password.expireTime), "nowTime": .integer(password.nowTime),
            ]
            otp["password"] = password.password.map { .string($0.exposedText()) }
            members["otp"] = .object(otp)
        }
        return .object(members)
    }
}

extension MPinUser {
    /// For programs; nothing secret.
    var json: JSON {
        var members: [String: JSON] = [
            "user": .string(id), "state": .string(state.rawValue), "confirmed": .bool(isConfirmed),
        ]
        members["deviceName"] = deviceName.map(JSON.string)
        return .object(members)
    }
}

extension MPinSessionDetails {
    var json: JSON {
        ["prerollID": .string(prerollID), "appName": .string(appName), "appLogoURL": .string(appLogoURL)]
    }
}

extension MPinServiceDetails {
    var json: JSON {
        ["name": .string(name), "url": .string(url), "prefix": .string(prefix), "logoURL": .string(logoURL)]
    }
}
