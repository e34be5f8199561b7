import Groundwork
import LocalAPI
import Prompts

/// Schemas shared by several routes.
extension Schema {
    static var problem: Schema {
        named(
            "Problem", .object(explanation, required: requiredOfExplanation, "Why something does not work"))
    }

    /// A set of members together with those that explain an error.
    static func withExplanation(_ members: [String: Schema]) -> [String: Schema] {
        members.merging(explanation) { own, _ in own }
    }

    static var certificate: Schema {
        named(
            "Certificate",
            .object(
                [
                    "notBefore": .time("begin of its validity"), "notAfter": .time("end of its validity"),
                    "daysLeft": .integer("whole days until it ends; negative when it has ended"),
                ], "The device certificate; without members where there is none"))
    }

    static var registration: Schema {
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
    static var gatewayMembers: [String: Schema] {
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
    static var start: Schema {
        named(
            "Start",
            .object(
                StartState.schemas.merging([
                    "authentication": .string(
                        "whether a user is logged in, or only the board itself has a token, or nobody",
                        choices: Authentication.allCases.map(\.rawValue))
                ]) { own, _ in own }, required: ["state", "state_ios", "state_android"]))
    }

    static var lastError: Schema {
        any(
            of: [trouble, .object(withExplanation(["time": .time("when it happened")]), required: ["message"])],
            "The newest trouble, while it lasts")
    }

    static var gatewayStatus: Schema {
        named(
            "GatewayStatus",
            .object(
                gatewayMembers.merging(["switchedFrom": gatewayAddress]) { own, _ in own },
                required: ["gateway", "registration"],
                "The state of the board at its gateway"))
    }

    static var gatewayAddress: Schema {
        Schema.object(
            ["url": .string("of the gateway")], required: ["url"], "Another gateway, whose registration is kept")
    }

    /// The status, to which each feature contributes its members.
    static func status(of features: [any Feature.Type]) -> Schema {
        let members = features.reduce(into: [:]) { all, feature in
            all.merge(feature.statusMembers) { _, later in later }
        }
        return named(
            "Status", .object(members, required: ["version", "time", "uptime", "registration", "warnings"]))
    }

    static var broker: Schema {
        object(
            [
                "state": .string(
                    "what the connection does", choices: ["stopped", "connecting", "connected", "waiting"]),
                "address": .string("host:port"), "since": .time("since when"),
                "sent": .integer("messages since the agent started"),
                "acknowledged": .integer("messages since the agent started"),
                "received": .integer("messages since the agent started"), "lastError": problem,
                "errorReports": .object(
                    [
                        "count": .integer("since the agent started"), "topic": .string("of the last"),
                        "text": .string("of the last, as the broker worded it"), "time": .time("when the last came"),
                    ], required: ["count", "topic", "text", "time"],
                    "What the broker reported at topics whose last level is error"),
            ], required: ["state", "address", "since", "sent", "acknowledged", "received"])
    }

    static var outbox: Schema {
        any(of: [
            .object(
                [
                    "depth": .integer("messages that wait"), "bytes": .integer("that they take"),
                    "unwritten": .integer("those in memory only; a power cut or a kill loses the board's own readings"),
                    "flushSeconds": .integer("how long readings stay there at most"),
                    "accepted": .integer("messages ever"), "delivered": .integer("messages ever"),
                    "dropped": .integer("messages ever"),
                    "oldestAge": .integer("of the message that waits longest, in seconds"),
                    "setAside": .string("file name of a damaged outbox"),
                    "rescued": .integer("messages that were read from it"),
                    "deadLetters": .integer(
                        "messages that are no longer sent, as the broker ended the connection on each"),
                ],
                required: [
                    "depth", "bytes", "unwritten", "flushSeconds", "accepted", "delivered", "dropped", "deadLetters",
                ]),
            .object(["error": problem], required: ["error"]),
        ])
    }

    static var user: Schema { named("User", .object(userMembers, required: ["loggedIn"])) }

    static var userMembers: [String: Schema] {
        [
            "loggedIn": .boolean("whether anybody is"), "userName": .string("as the gateway names the user").orNull,
            "loggedInAt": .time("since when"), "sessionEnds": .time("where that is known"),
            "tokenLifeLeft": .integer("in seconds, where there is an access token"),
            "locked": .boolean("whether the session is locked; then nobody counts as logged in"),
            "lockedAt": .time("since when it is locked"),
            "attemptsLeft": .integer("wrong passcodes after which a locked session is given up"),
        ]
    }

    static var version: Schema {
        Schema.object(
            [
                "latchkey": .string("semantic version of the agent"),
                "libraries": .map(of: .string("version"), "by name"),
            ], required: ["latchkey", "libraries"])
    }

    static var diagnosis: Schema {
        Schema.object(
            [
                "worst": .string("the worst verdict", choices: ["pass", "warn", "fail", "skip"]),
                "checks": .array(
                    of: .object(
                        [
                            "name": .string("stable, for programs"),
                            "verdict": .string("what was found", choices: ["pass", "warn", "fail", "skip"]),
                            "message": .string("for people"), "remedy": .string("what to do"),
                        ], required: ["name", "verdict", "message"]), "in the order in which to fix them"),
            ], required: ["worst", "checks"])
    }

    static var reading: Schema {
        named(
            "Reading",
            .object(
                [
                    "name": .string("the sensor, by the board definition"),
                    "unit": .string("a SenML unit, RFC 8428 section 12.1"),
                    "quality": .string("how far it can be trusted", choices: ["good", "uncertain", "bad"]),
                    "value": .number("in the unit; null when the quality is bad").orNull,
                ], required: ["name", "unit", "quality", "value"]))
    }

    static var readings: Schema {
        Schema.object(
            ["readings": .array(of: reading, "one for each sensor")], required: ["readings"])
    }

    static var consents: Schema {
        Schema.array(
            of: named(
                "Consent",
                .object(
                    Prompt.requester.merging([
                        "id": .integer("names the question"),
                        "user": .string("in whose name consent is asked for").orNull,
                    ]) { own, _ in own }, required: ["id", "name", "address", "way", "user"])),
            "questions that wait for an answer")
    }

    static var accepted: Schema {
        named(
            "Accepted",
            .object(
                [
                    "id": .integer("number of the message, or of the first"),
                    "topic": .string("the whole topic, or the first"),
                    "count": .integer("messages, where there are several"),
                ], required: ["id", "topic"]))
    }
}
