import Groundwork
import LocalAPI
import Prompts

/// Schemas shared by several routes.
extension Schema {
    package static var problem: Schema {
        named(
            "Problem", .object(explanation, required: requiredOfExplanation, "Why something does not work"))
    }

    /// A set of members together with those that explain an error.
    package static func withExplanation(_ members: [String: Schema]) -> [String: Schema] {
        members.merging(explanation) { own, _ in own }
    }

    package static var lastError: Schema {
        any(
            of: [
                .reference(to: "Event"),
                .object(withExplanation(["time": .time("when it happened")]), required: ["message"]),
            ],
            "The latest error, while it lasts")
    }

    /// The status, to which each feature contributes its members.
    package static func status(of features: [any Feature.Type]) -> Schema {
        let members = features.reduce(into: [:]) { all, feature in
            all.merge(feature.statusMembers) { _, later in later }
        }
        return named(
            "Status", .object(members, required: ["version", "time", "uptime", "registration", "warnings"])
        ).defining(event(of: features)).defining(account(of: features))
    }

    package static var user: Schema { named("User", .object(userMembers, required: ["loggedIn"])) }

    package static var userMembers: [String: Schema] {
        [
            "loggedIn": .boolean("whether a user is logged in"),
            "userName": .string("as the gateway names the user").orNull,
            "loggedInAt": .time("when the user logged in"), "sessionEnds": .time("when the session ends, if known"),
            "tokenLifeLeft": .integer("in seconds, if there is an access token"),
            "locked": .boolean("whether the session is locked; then no user counts as logged in"),
            "lockedAt": .time("when it was locked"),
            "hidden": .boolean("whether there is a user whom the vault's passcode hides while it is locked"),
            "attemptsLeft": .integer("wrong passcodes left before a locked session is ended"),
        ]
    }

    package static var version: Schema {
        Schema.object(all: [
            "latchkey": .string("semantic version of the agent"),
            "libraries": .map(of: .string("version"), "by name"),
        ])
    }

    package static var diagnosis: Schema {
        Schema.object(all: [
            "worst": .string("the worst verdict", choices: ["pass", "warn", "fail", "skip"]),
            "checks": .array(
                of: .object(
                    [
                        "name": .string("stable, for programs"),
                        "verdict": .string("what was found", choices: ["pass", "warn", "fail", "skip"]),
                        "message": .string("for people"), "remedy": .string("what to do"),
                    ], required: ["name", "verdict", "message"]), "in the order to fix them"),
        ])
    }
}
