import AgentCore
import Groundwork
import LocalAPI
import MPin

/// What is asked of M-Pin back ends, and what comes of it.
extension Schema {
    static var mpinUserID: Schema { string("who it is, as the back end knows people") }

    static var mpinPIN: Schema { string("printable ASCII; it is not kept").asSensitive }

    static var mpinAnswerers: Schema {
        string(
            "who may answer: operators, unless given, or only the user who asks here", choices: ["operators", "user"])
    }

    static var mpinBackend: [String: Schema] {
        [
            "url": .string("the base of the back end's addresses"),
            "prefix": .string("the path of its relying-party service; rps unless given"),
            "clientID": .string("what the board calls itself there, where it asks"),
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
                "url": .string("of the back end that answered"),
                "settings": .map(
                    of: .string("a number in decimal digits, or true or false, where it is one"),
                    "what it tells its clients, such as setDeviceName"),
            ], required: ["url", "settings"])
    }

    static var mpinSession: Schema {
        object(
            [
                "prerollID": .string("who is expected to log in; empty where the back end does not say"),
                "appName": .string("what the code lets into; empty where the back end does not say"),
                "appLogoURL": .string("its picture; empty where the back end does not say"),
            ], required: ["prerollID", "appName", "appLogoURL"])
    }

    private static var mpinUserMembers: [String: Schema] {
        [
            "user": mpinUserID,
            "state": .string("where the user stands", choices: MPinUserState.allCases.map(\.rawValue)),
            "confirmed": .boolean("whether the secret is in memory, so that a PIN can be chosen"),
            "deviceName": .string("what the back end shows for this board"),
        ]
    }

    static var mpinUser: Schema {
        named("MPinUser", .object(mpinUserMembers, required: ["user", "state", "confirmed"]))
    }

    static var newMPinUser: Schema {
        object(
            mpinUserMembers.merging([
                "advice": .array(of: .string("a line for people"), "what a PIN is worth"),
                "wantsDeviceName": .boolean(
                    "whether the back end asks what this board is called, and was not told"),
            ]) { own, _ in own }, required: ["user", "state", "confirmed", "advice", "wantsDeviceName"])
    }

    static var mpinUsers: Schema { array(of: mpinUser, "at an M-Pin back end, by name") }

    static var mpinLogin: [String: Schema] {
        [
            "by": .string("what for; login unless given", choices: MPinLoginWay.allCases.map(\.rawValue)),
            "accessNumber": Schema.string("the number or code that a browser shows").asSensitive,
        ]
    }

    static var mpinLoginResult: Schema {
        named(
            "MPinLogin",
            .object(
                [
                    "user": mpinUserID, "by": .string("what for", choices: MPinLoginWay.allCases.map(\.rawValue)),
                    "answer": Schema.openObject("what the back end's application answered").asSensitive,
                    "otp": .object(
                        [
                            "status": .string(
                                "of the password alone", choices: MPinStatus.allCases.map(\.rawValue)),
                            "password": Schema.string("to be entered elsewhere").asSensitive,
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
                "url": .string("the base of its addresses"), "prefix": .string("of its relying-party service"),
                "clientID": .string("what the board calls itself there"),
            ], required: ["url", "prefix"], "An M-Pin back end")
    }
}
