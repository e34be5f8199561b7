import AgentCore
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

    static var mpinService: Schema {
        object(
            [
                "name": .string("for people"), "url": .string("the base of the back end's addresses"),
                "prefix": .string("the path of its relying-party service"),
                "logoURL": .string("its picture; may be empty"),
            ], required: ["name", "url", "prefix", "logoURL"])
    }

    static var mpinTested: Schema {
        object(
            [
                "url": .string("address of the back end that answered"),
                "settings": .map(
                    of: .string("its value; numbers in decimal digits, or true or false"),
                    "what it sends its clients, such as setDeviceName"),
            ], required: ["url", "settings"])
    }

    static var mpinSession: Schema {
        object(
            [
                "prerollID": .string("user who is expected to log in; empty if the back end does not say"),
                "appName": .string("application of the login; empty if the back end does not say"),
                "appLogoURL": .string("its picture; empty if the back end does not say"),
            ], required: ["prerollID", "appName", "appLogoURL"])
    }

    private static var mpinUserMembers: [String: Schema] {
        [
            "user": mpinUserID,
            "state": .string("state of the user", choices: MPinUserState.allCases.map(\.rawValue)),
            "confirmed": .boolean("whether the secret is in memory, so that a PIN can be chosen"),
            "deviceName": .string("name that the back end shows for this board"),
        ]
    }

    static var mpinUser: Schema {
        named("MPinUser", .object(mpinUserMembers, required: ["user", "state", "confirmed"]))
    }

    static var newMPinUser: Schema {
        object(
            mpinUserMembers.merging([
                "advice": .array(of: .string("a human-readable line"), "how secure a PIN is"),
                "wantsDeviceName": .boolean(
                    "whether the back end asks for this board's name, and none was given"),
            ]) { own, _ in own }, required: ["user", "state", "confirmed", "advice", "wantsDeviceName"])
    }

    static var mpinUsers: Schema { array(of: mpinUser, "at an M-Pin back end, by name") }

    static var mpinLogin: [String: Schema] {
        [
            "by": .string("purpose of the login; login by default", choices: MPinLoginWay.allCases.map(\.rawValue)),
            "accessNumber": Schema.string("the number or code that a browser shows").asSensitive,
        ]
    }

    static var mpinLoginResult: Schema {
        named(
            "MPinLogin",
            .object(
                [
                    "user": mpinUserID,
                    "by": .string("purpose of the login", choices: MPinLoginWay.allCases.map(\.rawValue)),
                    "answer": Schema.openObject("what the back end's application answered").asSensitive,
                    "otp": .object(
                        [
                            "status": .string(
                                "status of the password alone", choices: MPinStatus.allCases.map(\.rawValue)),
                            "password": Schema.string("password to enter elsewhere").asSensitive,
                            "ttlSeconds": .integer("how long it is valid; 0 if unknown"),
                            "expireTime": .integer("seconds since 1970 by the back end's clock; 0 if unknown"),
                            "nowTime": .integer("seconds since 1970 by the back end's clock; 0 if unknown"),
                        ], required: ["status", "ttlSeconds", "expireTime", "nowTime"], "A one-time password"),
                    "code": Schema.string("an authorization code").asSensitive,
                    "canLogOut": .boolean("whether the session in a browser can be ended from here"),
                ], required: ["user", "by", "canLogOut"]))
    }

    /// The back end of an account of the kind `mpin`.
    static var mpinBackendReport: Schema {
        object(
            [
                "url": .string("the base of its addresses"), "prefix": .string("path of its relying-party service"),
                "clientID": .string("client ID of the board there"),
            ], required: ["url", "prefix"], "An M-Pin back end")
    }
}
