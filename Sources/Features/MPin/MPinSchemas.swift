import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import MPin

/// What is asked of M-Pin back ends, and what comes of it.
extension Schema {
    static var mpinUserID: Schema { string("user ID at the back end, such as an email address") }

    static var mpinPIN: Schema { string("printable ASCII; it is not kept").asSensitive }

    static var mpinAnswerers: Schema {
        string(
            "who may answer: operators by default, or only the user who calls", choices: ["operators", "user"])
    }

    static var mpinBackend: [String: Schema] {
        [
            "url": .string("the base of the back end's addresses"),
            "prefix": .string("the path of its relying-party service; rps by default"),
            "clientID": .string("client ID of the board, if the back end requires one"),
            "headers": Schema.map(of: .string("its value"), "sent with each request").asSensitive,
            "authorities": .string("certificates in PEM; without them, those that the system trusts"),
        ]
    }

    static var mpinScanned: [String: Schema] {
        var members = mpinBackend.filter { !["url", "prefix"].contains($0.key) }
        members["code"] = string("an address; what follows a # is not sent").asSensitive
        return members
    }

    static var mpinTested: Schema {
        object(all: [
            "url": .string("address of the back end that answered"),
            "settings": .map(
                of: .string("its value; numbers in decimal digits, or true or false"),
                "what it sends its clients, such as setDeviceName"),
        ])
    }

    static var mpinUser: Schema { named("MPinUser", MPinUser.schema()) }

    static var newMPinUser: Schema {
        object(
            MPinUser.answer.schemas.merging([
                "advice": .array(of: .string("a human-readable line"), "how secure a PIN is"),
                "wantsDeviceName": .boolean(
                    "whether the back end asks for this board's name, and none was given"),
            ]) { own, _ in own }, required: MPinUser.answer.required.union(["advice", "wantsDeviceName"]))
    }

    static var mpinUsers: Schema { array(of: mpinUser, "at an M-Pin back end, by name") }

    static var mpinLogin: [String: Schema] {
        [
            "by": .string("purpose of the login; login by default", choices: MPinLoginWay.allCases.map(\.rawValue)),
            "accessNumber": Schema.string("the number or code that a browser shows").asSensitive,
        ]
    }

    static var mpinLoginResult: Schema { named("MPinLogin", MPinLoginResult.members.schema()) }
}

extension MPinServiceDetails: Answered {
    package static let answer: Answer<MPinServiceDetails> = [
        "name": .of("for people") { $0.name }, "url": .of("the base of the back end's addresses") { $0.url },
        "prefix": .of("the path of its relying-party service") { $0.prefix },
        "logoURL": .of("its picture; may be empty") { $0.logoURL },
    ]
}

extension MPinSessionDetails: Answered {
    package static let answer: Answer<MPinSessionDetails> = [
        "prerollID": .of("user who is expected to log in; empty if the back end does not say") { $0.prerollID },
        "appName": .of("application of the login; empty if the back end does not say") { $0.appName },
        "appLogoURL": .of("its picture; empty if the back end does not say") { $0.appLogoURL },
    ]
}

extension MPinUserState: AnswerValue {}

/// For programs; nothing secret.
extension MPinUser: Answered {
    package static let answer: Answer<MPinUser> = [
        "user": .schema(.mpinUserID) { $0.id }, "state": .of("state of the user") { $0.state },
        "confirmed": .of("whether the secret is in memory, so that a PIN can be chosen") { $0.isConfirmed },
        "deviceName": .of("name that the back end shows for this board") { $0.deviceName },
    ]
}

extension MPinLoginWay: AnswerValue {}

/// For the program that asked; with secrets.
extension MPinLoginResult {
    static let members: Answer<MPinLoginResult> = [
        "user": .schema(.mpinUserID) { $0.user }, "by": .of("purpose of the login") { $0.way },
        "answer": .schema(Schema.openObject("what the back end's application answered").asSensitive) { $0.answer },
        "otp": .of("A one-time password") { $0.password },
        "code": .schema(Schema.string("an authorization code").asSensitive) { $0.code?.exposedText() },
        "canLogOut": .of("whether the session in a browser can be ended from here") { $0.canLogOut },
    ]

    var json: JSON { Self.members.json(self) }
}

extension MPinStatus: AnswerValue {}

extension MPinOneTimePassword: Answered {
    package static let answer: Answer<MPinOneTimePassword> = [
        "status": .of("status of the password alone") { $0.status },
        "password": .schema(Schema.string("password to enter elsewhere").asSensitive) { $0.password?.exposedText() },
        "ttlSeconds": .of("how long it is valid; 0 if unknown") { $0.ttlSeconds },
        "expireTime": .of("seconds since 1970 by the back end's clock; 0 if unknown") { $0.expireTime },
        "nowTime": .of("seconds since 1970 by the back end's clock; 0 if unknown") { $0.nowTime },
    ]
}

/// The back end of an account of the kind `mpin`.
extension MPinConfiguration: Answered {
    package static let answer: Answer<MPinConfiguration> = [
        "url": .of("the base of its addresses") { $0.url },
        "prefix": .of("path of its relying-party service") { $0.prefix },
        "clientID": .of("client ID of the board there") { $0.clientID },
    ]
}
