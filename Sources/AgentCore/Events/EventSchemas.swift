import FoundationEssentials
import Groundwork
import LocalAPI

/// The data of the events of `GET /v1/events`, by the family of the event's name.
extension Schema {
    package static func events(of features: [any Feature.Type]) -> [String: Schema] {
        var families: [String: [String: Schema]] = [:]
        for type in features.flatMap({ $0.events }) {
            for family in Set(type.meanings.keys.map { String($0.prefix { $0 != "." }) }) {
                families[family, default: common].merge(type.details) { _, own in own }
            }
        }
        return families.reduce(into: [:]) { events, family in
            events["\(family.key).*"] = .named(
                "\(family.key.capitalized)Event", .object(withExplanation(family.value), required: ["event", "time"]))
        }
    }

    /// An event of any family.
    package static func event(of features: [any Feature.Type]) -> Schema {
        named("Event", .any(of: events(of: features).sorted { $0.key < $1.key }.map(\.value)))
    }

    private static var common: [String: Schema] {
        [
            "event": .string("its name"), "time": .time("when it happened"),
            "retrySeconds": .integer("time until the next attempt"),
            "account": .string("the account that the event concerns, if not the default one"),
            "as": .string("user: the event concerns the logged-in user's connection", choices: ["user"]),
            "connection": .string("the broker of the settings that the event concerns"),
        ]
    }
}
