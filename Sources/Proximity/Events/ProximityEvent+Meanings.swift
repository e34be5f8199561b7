public import Groundwork
import Prompts

extension ProximityEvent {
    public static let meanings = [
        "proximity.ambiguous":
            "several devices ask for consent, or one asks while a session is to be unlocked, so the button answers none of them",
        "proximity.authorization-code-received": "another device has let this one in",
        "proximity.authorization-error-received": "this device was not let in",
        "proximity.button-fault": "the button cannot be used for consent",
        "proximity.button-recovered": "the button can be used for consent again",
        "proximity.central-connected": "a device nearby has connected",
        "proximity.central-disconnected": "a device nearby has disconnected",
        "proximity.central-hung-up": "this board has disconnected a device nearby",
        "proximity.central-subscribed": "a device nearby waits for an answer",
        "proximity.central-unsubscribed": "a device nearby no longer waits for an answer",
        "proximity.characteristic-found": "the device nearby takes requests",
        "proximity.consent-answered": "a question for consent was answered, or nobody answered it in time",
        "proximity.consent-asked": "a device waits for consent",
        "proximity.device-connected": "this device has connected to one nearby",
        "proximity.device-detected": "a device that shares a session is near",
        "proximity.device-disconnected": "this device has disconnected from one nearby",
        "proximity.device-failed": "a device nearby could not be asked; the next one is tried",
        "proximity.device-too-far": "a device that shares a session is too far away",
        "proximity.login-failed": "a login with a nearby device has failed",
        "proximity.login-succeeded": "a user is logged in with a device nearby",
        "proximity.polled": "the gateway was asked, and nobody has let this device in yet",
        "proximity.qr-code-hidden": "the QR code is no longer shown",
        "proximity.qr-code-shown": "a QR code waits to be scanned",
        "proximity.request-received": "a device asks to be let in",
        "proximity.request-refused": "a device's request was refused before anybody was asked",
        "proximity.request-written": "the request was sent to the device nearby",
        "proximity.scan-started": "this device looks for others that share a session",
        "proximity.scan-stopped": "this device no longer looks for others",
        "proximity.service-discovered": "the device nearby has the service of proximity login",
        "proximity.session-authorized": "a device was let in",
        "proximity.session-not-authorized": "a device was not let in",
        "proximity.session-not-notified": "a device could not be notified of the outcome of its request",
        "proximity.session-notified": "a device was notified of the outcome of its request",
        "proximity.sharing-end-requested": "the end of sharing was requested",
        "proximity.sharing-interrupted": "the session is not offered for now, as Bluetooth failed",
        "proximity.sharing-started": "the session is offered to devices nearby",
        "proximity.sharing-stopped": "the session is no longer offered",
        "proximity.unambiguous": "one device alone waits for consent again",
    ]

    public static var details: [String: Schema] {
        Prompt.requester.merging([
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

extension Trouble {
    /// Whether the session can be offered at all.
    public static let sharing = Trouble("sharing")
    /// Whether the offer is on the air.
    public static let radio = Trouble("radio")
    /// The button, for consent.
    public static let button = Trouble("button")
}
