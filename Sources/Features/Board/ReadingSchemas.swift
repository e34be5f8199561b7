import AgentCore
import Groundwork

extension Schema {
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
}
