import Cryptography
import Groundwork
import LocalAPI
import MPin

/// A user of an M-Pin account, as a request names one.
struct MPinPerson: Sendable {
    let account: MPinAccount
    let name: AccountName
    let id: String

    /// For a question: `alice@example.com at door`.
    var shown: String { "\(DisplayText.clean(id)) at \(name)" }
}

/// What a login is to bring.
struct MPinWish: Sendable {
    var way = MPinLogInWay.login
    var accessNumber = ""

    /// The code of a browser that a person scanned; a number that was typed is shorter.
    var accessCode: String? {
        way == .accessNumber && !isTyped ? accessNumber : nil
    }

    /// Whether it is for people to type, mistakes included. Numbers have 6 or 7 digits, codes 32 (MPIN 5.11, 5.13).
    var isTyped: Bool { accessNumber.utf8.count < 16 }
}

/// What a login has brought.
struct MPinLoggedIn: Sendable {
    let user: String
    let way: MPinLogInWay
    var answer: JSON?
    var password: MPinOneTimePassword?
    var code: SecretBytes?
    var canLogOut = false

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
