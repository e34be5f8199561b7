import Connectivity
import GatewayServices
import LocalAPI
import Messaging

/// The data of the events of `GET /v1/events`, by the family of the event's name.
extension Schema {
    static var agentEvents: [String: Schema] {
        families.reduce(into: [:]) { events, family in
            events["\(family.name).*"] = .named(
                family.schema,
                .object(
                    withExplanation(common.merging(family.members) { own, _ in own }), required: ["event", "time"]))
        }
    }

    /// An event that reported a problem, as the status shows it.
    static var trouble: Schema { Schema.any(of: agentEvents.sorted { $0.key < $1.key }.map(\.value)) }

    private static var common: [String: Schema] {
        [
            "event": .string("its name"), "time": .time("when it happened"),
            "retrySeconds": .integer("until the next attempt"),
            "account": .string("which it is about, where it is not the default one"),
        ]
    }

    private static var ofUser: Schema {
        string("user: it was at the connection of the logged-in user", choices: ["user"])
    }

    private static var ofBroker: Schema { string("it was at this broker of the settings") }

    private typealias Family = (name: String, schema: String, members: [String: Schema])

    private static var families: [Family] {
        [
            (
                "action", "ActionEvent",
                [
                    "action": .string("its name"), "id": .integer("of the message"),
                    "topic": .string("the whole topic"),
                    "attempt": .integer("with this message, from 1"), "status": .integer("exit status of the command"),
                    "signal": .integer("that ended the command"),
                    "timedOut": .boolean("whether it was ended at its time limit"),
                    "isDead": .boolean("whether the message was given up"),
                ]
            ),
            ("agent", "AgentEvent", ["service": .string("the part of the agent that is started again")]),
            (
                "broker", "BrokerEvent",
                [
                    "broker": .string("host:port"), "attempt": .integer("since the last connection, from 1"),
                    "sessionPresent": .boolean("whether the broker kept the session"),
                    "filter": .string("of a refused subscription"), "as": ofUser, "connection": ofBroker,
                ]
            ),
            (
                "enrollment", "EnrollmentEvent",
                ["place": .string("where it waited: a path, the credential or the scanner")]
            ),
            ("button", "ButtonEvent", ["heldMilliseconds": .integer("how long it was pressed")]),
            (
                "gateway", "GatewayEvent",
                StartState.schemas.merging(["expires": .time("end of the token")]) { own, _ in own }
            ),
            (
                "inbox", "InboxEvent",
                [
                    "inbox": .string("its name"), "count": .integer("messages"),
                    "total": .integer("messages dropped ever"),
                    "reason": .string("why they were dropped", choices: InboxEvent.DropReason.allCases.map(\.rawValue)),
                ]
            ),
            (
                "grants", "GrantEvent",
                [
                    "uid": .integer("of the program's user"), "user": .string("the name of that user"),
                    "unit": .string("of the program"), "host": .string("where its call goes"),
                    "as": .string("whose token, if the program said so", choices: ["board", "user"]),
                    "grant": .string("by which, or which one was changed"), "by": .string("who changed it"),
                ]
            ),
            (
                "items", "ItemEvent",
                [
                    "place": .string("where it is stored", choices: ItemEvent.Place.allCases.map(\.rawValue)),
                    "segment": .string("whose it is", choices: ItemSegment.allCases.map(\.rawValue)),
                    "key": .string("of the item; all of the segment without it"),
                ]
            ),
            (
                "message", "MessageEvent",
                [
                    "topic": .string("the whole topic"), "senderID": .string("the sender's own claim"),
                    "senderType": .string("the sender's own claim"), "contentType": .string("a MIME type"),
                    "bytes": .integer("length of the content"), "limitBytes": .integer("the longest that is taken"),
                    "more": .integer("messages that came with it"),
                    "as": ofUser, "connection": ofBroker,
                ]
            ),
            ("mpin", "MPinEvent", mpinEventMembers),
            (
                "network", "NetworkEvent",
                [
                    "interface": .string("the link that leads to others"),
                    "link": .choice("its kind", of: NetworkWay.Kind.self),
                ]
            ),
            (
                "outbox", "OutboxEvent",
                [
                    "count": .integer("messages"),
                    "reason": .string(
                        "why they were dropped", choices: OutboxEvent.DropReason.allCases.map(\.rawValue)),
                    "total": .integer("messages dropped ever"), "id": .integer("of a dead letter"),
                    "topic": .string("of a dead letter"),
                    "bytes": .integer("length of a dead letter's payload"),
                ]
            ),
            ("prompt", "PromptEvent", promptDetails),
            ("proximity", "ProximityEvent", proximityDetails),
            ("sensor", "SensorEvent", ["sensor": .string("by the board definition")]),
            ("vault", "VaultEvent", [:]),
        ]
    }

    /// A step between nearby devices, reported to the program that logs in a user.
    static var proximityStep: Schema {
        named(
            "ProximityStep",
            .object(
                withExplanation(proximityDetails.merging(["text": .string("one line for people")]) { own, _ in own }),
                required: ["text"]))
    }

    private static var proximityDetails: [String: Schema] {
        requester.merging([
            "address": .string("Bluetooth address").orNull, "id": .integer("of the question"),
            "rssi": .integer("in dBm"), "least_rssi": .integer("in dBm"),
            "pieces": .integer("that the request was written in"),
            "attempt": .integer("of asking the gateway, from 1"), "limit": .integer("how often it is asked at most"),
            "waiting": .integer("questions that wait"), "seconds": .integer("for which a code is shown"),
            "user": .string("who is logged in now, or in whose name consent is asked for").orNull,
            "end": .string("why the session is no longer offered"),
            "central": .string("a device that connects, by its address"), "reason": .string("why it was disconnected"),
            "decision": .string("the decision on a question"), "by": .string("who answered").orNull,
            "answer": .string("the answer that the device got"), "fault": .string("of the button"),
            "notification": .string("what the reference clients call it"),
            "state_android": .integer("what the reference client for Android calls it"),
            "state_ios": .integer("what the reference client for iOS calls it"),
            "error_android": .integer("the error's number there"), "error_ios": .integer("the error's number there"),
        ]) { _, new in new }
    }
}
