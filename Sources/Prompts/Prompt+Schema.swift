public import Groundwork

extension Prompt {
    /// The members that every prompt has.
    public static let alwaysPresent: Set = [
        "id", "kind", "text", "secret", "answerers", "state", "attemptsLeft", "fault", "secondsLeft",
    ]

    /// The schemas of ``details``.
    public static var members: [String: Schema] {
        [
            "id": .integer("number of the prompt; it stays the same when the question is asked again"),
            "kind": .string("kind of answer", choices: PromptQuestion.Kind.allCases.map(\.rawValue)),
            "text": .string("one line for a person"),
            "secret": .boolean("whether the answer must not be shown on a screen"),
            "answerers": .string(
                "who may answer: users who may operate the local API, these users or the button, or one user",
                choices: ["operators", "operators-and-button", "user"]),
            "uid": .integer("user ID of the one user who may answer"),
            "state": .string(
                "whether an answer counts now, or one is being checked",
                choices: Prompt.State.allCases.map(\.rawValue)),
            "attemptsLeft": .integer("attempts left, including the next one").orNull,
            "fault": .string("what was wrong with the last answer").orNull,
            "secondsLeft": .integer("time left to answer; null without a time limit").orNull,
            "choices": .array(of: .string("an answer"), "the choices"),
            "subject": .any(of: [
                .object(
                    requester.merging(["user": .string("user in whose name it would be let in").orNull]) { own, _ in own
                    },
                    required: ["name", "address", "way", "user"], "The device that asks to be let in"),
                .object(["user": .string("user name at the gateway")], required: ["user"], "Who logs in"),
            ]),
        ]
    }

    /// A device that asks to be let in.
    public static var requester: [String: Schema] {
        [
            "name": .string("the device's own claim").orNull, "address": .string("Bluetooth address").orNull,
            "way": .string("how it asks", choices: ["ble", "qr"]),
        ]
    }
}
