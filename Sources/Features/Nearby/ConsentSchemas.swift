import AgentCore
import Groundwork
import LocalAPI
import Prompts
import Proximity

extension Schema {
    package static var consents: Schema {
        Schema.array(
            of: named(
                "Consent",
                .object(
                    Prompt.requester.merging([
                        "id": .integer("number of the question"),
                        "user": .string("user in whose name consent is requested").orNull,
                    ]) { own, _ in own }, required: ["id", "name", "address", "way", "user"])),
            "questions that wait for an answer")
    }

    /// A step between nearby devices, reported to the program that logs in a user.
    package static var proximityStep: Schema {
        named(
            "ProximityStep",
            .object(
                withExplanation(
                    ProximityEvent.details.merging(["text": .string("one line for people")]) { own, _ in own }),
                required: ["text"]))
    }
}
