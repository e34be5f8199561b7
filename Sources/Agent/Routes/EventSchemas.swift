import FoundationEssentials
import Groundwork
import LocalAPI
import Proximity

/// The data of the events of `GET /v1/events`, by the family of the event's name.
extension Schema {
    static var agentEvents: [String: Schema] {
        var families: [String: [String: Schema]] = [:]
        for type in Features.all.flatMap({ $0.events }) {
            for family in Set(type.meanings.keys.map { String($0.prefix { $0 != "." }) }) {
                families[family, default: common].merge(type.details) { _, own in own }
            }
        }
        return families.reduce(into: [:]) { events, family in
            events["\(family.key).*"] = .named(
                "\(family.key.capitalized)Event", .object(withExplanation(family.value), required: ["event", "time"]))
        }
    }

    /// An event that reported a problem, as the status shows it.
    static var trouble: Schema { Schema.any(of: agentEvents.sorted { $0.key < $1.key }.map(\.value)) }

    private static var common: [String: Schema] {
        [
            "event": .string("its name"), "time": .time("when it happened"),
            "retrySeconds": .integer("until the next attempt"),
            "account": .string("which it is about, where it is not the default one"),
            "as": .string("user: it was at the connection of the logged-in user", choices: ["user"]),
            "connection": .string("it was at this broker of the settings"),
        ]
    }

    /// A step between nearby devices, reported to the program that logs in a user.
    static var proximityStep: Schema {
        named(
            "ProximityStep",
            .object(
                withExplanation(
                    ProximityEvent.details.merging(["text": .string("one line for people")]) { own, _ in own }),
                required: ["text"]))
    }
}
