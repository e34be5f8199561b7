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
        "proximity.characteristic-found": "the device nearby accepts requests",
        "proximity.consent-answered": "a question for consent was answered, or its time ran out",
        "proximity.consent-asked": "a device waits for consent",
        "proximity.device-connected": "this device has connected to one nearby",
        "proximity.device-detected": "a device that shares a session is near",
        "proximity.device-disconnected": "this device has disconnected from one nearby",
        "proximity.device-failed": "a device nearby could not be asked; the next one is tried",
        "proximity.device-too-far": "a device that shares a session is too far away",
        "proximity.login-failed": "a login with a nearby device has failed",
        "proximity.login-succeeded": "a user is logged in with a device nearby",
        "proximity.polled": "the gateway was asked, and this device has not been let in yet",
        "proximity.qr-code-hidden": "the QR code is no longer shown",
        "proximity.qr-code-shown": "a QR code waits to be scanned",
        "proximity.request-received": "a device asks to be let in",
        "proximity.request-refused": "a device's request was refused before a person was asked",
        "proximity.request-written": "the request was sent to the device nearby",
        "proximity.scan-started": "this device looks for others that share a session",
        "proximity.scan-stopped": "this device no longer looks for others",
        "proximity.service-discovered": "the device nearby has the service of proximity login",
        "proximity.session-authorized": "a device was let in",
        "proximity.session-not-authorized": "a device was not let in",
        "proximity.session-not-notified": "a device could not be notified of the outcome of its request",
        "proximity.session-notified": "a device was notified of the outcome of its request",
        "proximity.sharing-end-requested": "the end of sharing was requested",
        "proximity.sharing-interrupted": "the session is not offered for now, because Bluetooth failed",
        "proximity.sharing-started": "the session is offered to devices nearby",
        "proximity.sharing-stopped": "the session is no longer offered",
        "proximity.unambiguous": "only one device waits for consent again",
    ]

    public static var details: [String: Schema] {
        Prompt.requester.merging([
            "address": .string("Bluetooth address").orNull, "id": .integer("number of the question"),
            "rssi": .integer("signal strength in dBm"), "least_rssi": .integer("signal strength in dBm"),
            "pieces": .integer("number of pieces that the request was written in"),
            "attempt": .integer("number of the request to the gateway, from 1"),
            "limit": .integer("maximum number of requests"),
            "waiting": .integer("number of waiting questions"), "seconds": .integer("how long a code is shown"),
            "user": .string("who is logged in now, or in whose name consent is requested").orNull,
            "end": .string("why the session is no longer offered"),
            "central": .string("a device that connects, by its address"), "reason": .string("why it was disconnected"),
            "decision": .string("the decision on a question"), "by": .string("who answered").orNull,
            "answer": .string("the answer that the device got"), "fault": .string("fault of the button"),
            "notification": .string("name in the reference clients"),
            "state_android": .integer("number in the reference client for Android"),
            "state_ios": .integer("number in the reference client for iOS"),
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
