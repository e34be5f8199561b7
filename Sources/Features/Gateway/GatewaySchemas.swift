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
                    "notBefore": .time("start of its validity"), "notAfter": .time("end of its validity"),
                    "daysLeft": .integer("whole days until it expires; negative if it has expired"),
                ], "The device certificate; without members if there is none"))
    }

    package static var registration: Schema {
        named(
            "Registration",
            .object(
                [
                    "state": .string(
                        "pending: an administrator must activate the board; unknown: the vault cannot be opened, "
                            + "or its data of the gateway cannot be used",
                        choices: ["unregistered", "pending", "registered", "unknown"]),
                    "deviceID": .string("identifier that the board chose; its topics contain it"),
                    "magIdentifier": .string("the gateway's name for the registration"),
                ], required: ["state"]))
    }

    /// The status members that come from the gateway's session.
    package static var gatewayMembers: [String: Schema] {
        [
            "gateway": .object(
                [
                    "scope": .string("scope of the tokens"), "host": .string("host name or address"),
                    "port": .integer("TCP port", in: 1...65_535),
                    "prefix": .string("path prefix of the gateway's endpoints; empty if there is none"),
                    "url": .string("the URL that host, port and prefix make"),
                ], required: ["scope", "host", "port", "prefix", "url"], "The active gateway"),
            "registration": registration, "certificate": certificate, "start": start,
            "token": .object(
                [
                    "age": .integer("in seconds"), "lifeLeft": .integer("in seconds; negative if it has expired"),
                    "scope": .string("scopes separated by blanks"),
                ], required: ["age", "lifeLeft", "scope"], "The access token of the device"),
            "lastContact": .time("when the gateway last answered"),
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
                        "whether a user is logged in, only the board itself has a token, or neither",
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
            ["url": .string("URL of the gateway")], required: ["url"], "Another gateway; its registration is kept")
    }
}
