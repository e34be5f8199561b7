import AgentCore
import Groundwork

extension Schema {
    static var reading: Schema {
        named(
            "Reading",
            .object(
                [
                    "name": .string("name of the sensor in the board definition"),
                    "unit": .string("a SenML unit, RFC 8428 section 12.1"),
                    "quality": .string("how reliable it is", choices: ["good", "uncertain", "bad"]),
                    "value": .number("the value in the unit; null if the quality is bad").orNull,
                ], required: ["name", "unit", "quality", "value"]))
    }

    static var readings: Schema {
        Schema.object(
            ["readings": .array(of: reading, "one for each sensor")], required: ["readings"])
    }
}
