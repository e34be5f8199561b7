public import Groundwork

extension Prompt {
    package static let answer: Answer<Prompt> = [
        "id": .of("number of the prompt; it stays the same when the question is asked again") { $0.id },
        "kind": .of("kind of answer") { $0.question.kind },
        "text": .of("one line for a person") { $0.question.text },
        "secret": .of("whether the answer must not be shown on a screen") { $0.question.isSecret },
        "answerers": .schema(
            .string(
                "who may answer: users who may operate the local API, these users or the button, or one user",
                choices: ["operators", "operators-and-button", "user"])
        ) { $0.question.answerers.name },
        "uid": .of("user ID of the one user who may answer") { $0.question.answerers.uid },
        "state": .of("whether an answer counts now, or one is being checked") { $0.state },
        "attemptsLeft": .schema(.integer("attempts left, including the next one").orNull) {
            $0.attemptsLeft.inAnswer ?? .null
        },
        "fault": .schema(.string("what was wrong with the last answer").orNull) { $0.fault.inAnswer ?? .null },
        "secondsLeft": .schema(.integer("time left to answer; null without a time limit").orNull) {
            $0.timeLeft.map { JSON.integer(max($0, .zero).components.seconds) } ?? .null
        },
        "choices": .schema(.array(of: .string("an answer"), "the choices")) {
            $0.question.choices.isEmpty ? nil : $0.question.choices
        },
        "subject": .schema(subject) { $0.question.subject?.members },
    ]

    private static var subject: Schema {
        .any(of: [
            .object(
                requester.merging(["user": .string("user in whose name it would be let in").orNull]) { own, _ in own },
                required: ["name", "address", "way", "user"], "The device that asks to be let in"),
            .object(all: ["user": .string("user name at the gateway")], "Who logs in"),
        ])
    }

    /// A device that asks to be let in.
    public static var requester: [String: Schema] {
        [
            "name": .string("the device's own claim").orNull, "address": .string("Bluetooth address").orNull,
            "way": .string("how it asks", choices: ["ble", "qr"]),
        ]
    }
}
