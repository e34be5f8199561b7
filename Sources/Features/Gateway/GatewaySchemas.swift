import AgentCore
import Groundwork
import LocalAPI

/// Schemas of the board's state at a gateway.
extension Schema {
    package static var certificate: Schema {
        named(
            "Certificate",
            .object(
                [
                    "notBefore": .time("begin of its validity"), "notAfter": .time("end of its validity"),
                    "daysLeft": .integer("whole days until it ends; negative when it has ended"),
                ], "The device certificate; without members where there is none"))
    }

    package static var registration: Schema {
        named(
            "Registration",
            .object(
                [
                    "state": .string(
                        "pending: an administrator has to activate the board; unknown: the vault cannot be opened, or what it has of "
                            + "the gateway cannot be used",
                        choices: ["unregistered", "pending", "registered", "unknown"]),
                    "deviceID": .string("what the board calls itself at the gateway, and what its topics hold"),
                    "magIdentifier": .string("what the gateway calls the board"),
                ], required: ["state"]))
    }

    /// The status members that come from the gateway's session.
    package static var gatewayMembers: [String: Schema] {
        [
            "gateway": .object(
                [
                    "scope": .string("of the tokens"), "host": .string("host name or address"),
                    "port": .integer("TCP port", in: 1...65_535),
                    "prefix": .string("path below which the gateway's endpoints are; empty where there is none"),
                    "url": .string("what the three make"),
                ], required: ["scope", "host", "port", "prefix", "url"], "The active gateway"),
            "registration": registration, "certificate": certificate, "start": start,
            "token": .object(
                [
                    "age": .integer("in seconds"), "lifeLeft": .integer("in seconds; negative when it has ended"),
                    "scope": .string("with blanks between"),
                ], required: ["age", "lifeLeft", "scope"], "The access token of the device"),
            "lastContact": .time("of the last answer of the gateway"),
            "lastError": lastError,
        ]
    }

    /// Whether what talks to the gateway runs, and in whose name.
    package static var start: Schema {
        named(
            "Start",
            .object(
                StartState.schemas.merging([
                    "authentication": .string(
                        "whether a user is logged in, or only the board itself has a token, or nobody",
                        choices: Authentication.allCases.map(\.rawValue))
                ]) { own, _ in own }, required: ["state", "state_ios", "state_android"]))
    }

    package static var gatewayStatus: Schema {
        named(
            "GatewayStatus",
            .object(
                gatewayMembers.merging(["switchedFrom": gatewayAddress]) { own, _ in own },
                required: ["gateway", "registration"],
                "The state of the board at its gateway"))
    }

    package static var gatewayAddress: Schema {
        Schema.object(
            ["url": .string("of the gateway")], required: ["url"], "Another gateway, whose registration is kept")
    }
}
