/// The meaning of each event, by its name in `GET /v1/events`, `latchkey status --follow` and the log. Each feature
/// adds its own events.
enum EventMeanings {
    static let agent = [
        "agent.service-failed": "a part of the agent failed, and is started again"
    ]

    static let accounts = [
        "oauth.log-in-needed": "an OAuth server does not renew the token of an account any more; somebody has to log in"
    ]

    static let broker = [
        "broker.connecting": "the agent connects to the broker",
        "broker.connected": "the broker has accepted the connection; what waits is sent",
        "broker.disconnected": "the agent ended the connection to the broker",
        "broker.failed": "the connection to the broker was lost or could not be made; it is tried again",
        "broker.refused": "the broker did not accept the access token; a new one is taken",
        "broker.subscription-refused": "the broker does not let this device read these topics",
    ]

    static let button = [
        "button.found-down": "the board's button was held down when the agent began to look",
        "button.pressed": "the board's button was pressed",
        "button.released": "the board's button was let go",
    ]

    static let gateway = [
        "gateway.authorization-did-arrive": "a browser came back from a login with an authorization code",
        "gateway.authorization-did-fail": "a browser came back from a login without an authorization code",
        "gateway.client-did-fail-to-initialize": "the gateway gave the board no client credentials",
        "gateway.client-did-initialize": "the gateway gave the board client credentials",
        "gateway.client-will-initialize": "the board asks the gateway for client credentials",
        "gateway.configuration-unusable": "the stored configuration of a gateway cannot be used",
        "gateway.default-document-taken": "the default document of the settings became the configuration",
        "gateway.default-document-unusable": "the default document of the settings cannot be used",
        "gateway.device-awaits-activation": "the board is registered, and an administrator has to activate it",
        "gateway.device-did-activate": "an administrator has activated the board",
        "gateway.device-did-deregister": "the board was removed at the gateway",
        "gateway.device-did-fail-to-deregister": "the board could not be removed at the gateway; nothing has changed",
        "gateway.device-did-fail-to-register": "the board could not be registered",
        "gateway.device-did-fail-to-renew": "the device certificate could not be renewed; the old one stays in use",
        "gateway.device-did-register": "the board is registered at the gateway",
        "gateway.device-did-renew": "the device certificate was renewed",
        "gateway.device-did-reset-locally": "the board's identity was forgotten here; the gateway was not notified",
        "gateway.device-will-deregister": "the board is being removed at the gateway",
        "gateway.device-will-register": "the board is being registered at the gateway",
        "gateway.device-will-renew": "the device certificate is being renewed",
        "gateway.did-fail-to-start": "what talks to the gateway could not be started",
        "gateway.did-fail-to-stop": "what talks to the gateway could not be stopped",
        "gateway.did-start": "what talks to the gateway runs",
        "gateway.did-stop": "nothing talks to the gateway any more, until it is started or the agent is",
        "gateway.did-switch": "another gateway is the active one now; the registration at the former is kept",
        "gateway.not-ready": "the board cannot connect to its broker, as its registration or its token is not ready",
        "gateway.registration-did-drop": "the gateway does not know the board any more; its registration was dropped",
        "gateway.token-did-arrive": "the board has a new access token",
        "gateway.token-did-fail": "the board could not get an access token",
        "gateway.tokens-did-revoke": "the tokens were revoked at the gateway",
        "gateway.user-authentication-required": "a call needs a user, and nobody is logged in on the board",
        "gateway.user-did-authenticate": "a user has logged in on the board",
        "gateway.user-did-fail-to-authenticate": "a user could not log in",
        "gateway.user-did-fail-to-logout": "the user could not be logged out at the gateway",
        "gateway.user-did-fail-to-update-information":
            "the gateway gave no information about the user; what is kept stays",
        "gateway.user-did-logout": "no user is logged in on the board any more",
        "gateway.user-did-update-information": "what the gateway says about the user was read and kept",
        "gateway.user-token-did-arrive": "there is a new access token of the user",
        "gateway.user-will-authenticate": "a user is logging in",
        "gateway.user-will-logout": "the user is being logged out",
        "gateway.user-will-update-information": "the gateway is asked for information about the user",
        "gateway.will-start": "what talks to the gateway is being started",
        "gateway.will-stop": "what talks to the gateway is being stopped",
        "gateway.will-switch": "another gateway is about to become the active one",
    ]

    static let items = [
        "items.did-delete": "items were deleted that were stored under a key, here or at the gateway",
        "items.did-save": "an item was stored under a key, here or at the gateway",
    ]

    static let message = [
        "message.broker-error": "the broker reports an error at a topic whose last level is error",
        "message.not-sent": "a message in an envelope was not accepted; its sender got the error",
        "message.received": "a message in an envelope arrived for a subscription",
        "message.sent": "a message in an envelope was accepted: the broker or the disk has it",
        "message.too-large":
            "a message arrived that is larger than the agent takes; it was dropped, and the broker does not send it again",
    ]

    static let outbox = [
        "outbox.dead-letter": "a message is no longer sent, as the broker ended the connection on it",
        "outbox.dropped": "messages that waited were dropped; the event says how many, and why",
        "outbox.set-aside": "the outbox was damaged; what could be read of it was taken over, and the file is kept",
    ]

    static let inbox = [
        "inbox.dropped": "an inbox is full, or its messages too old: the oldest are dropped, and counted in the status",
        "inbox.kept-again": "messages for inboxes can be kept again, and are fetched from the broker",
        "inbox.not-kept": "messages for inboxes cannot be written, and stay at the broker until they can",
        "inbox.former-identity": "messages were dropped that were kept for an identity which this board gave up",
        "inbox.set-aside":
            "the file of the inboxes was damaged and is kept; there is a new one; of earlier ones the newest three stay",
    ]

    static let action = [
        "action.ended": "the command of an action has ended well, and its message is done",
        "action.failed":
            "the command of an action failed or could not be started; the event says what becomes of the message",
        "action.started": "the command of an action was started with a message",
    ]

    static let sensor = [
        "sensor.failed": "a sensor does not answer, or answers with something else than a number",
        "sensor.recovered": "a sensor that had failed answers again",
    ]

    static let prompt = [
        "prompt.answered": "a prompt was answered; the event says by whom, and never with what",
        "prompt.asked": "a prompt waits for an answer, the first or one after a wrong answer: latchkey prompts",
        "prompt.expired": "nobody answered a prompt in time",
        "prompt.refused": "a person or a program refused to answer a prompt",
        "prompt.withdrawn": "a prompt no longer needs an answer, because its asker has gone",
    ]

    static let vault = [
        "vault.set-aside": "the vault was damaged and is kept under another name; the board has to be enrolled again"
    ]

    static let proximity = [
        "proximity.ambiguous":
            "several devices ask for consent, or one asks while a session is to be unlocked, so the button answers none of them",
        "proximity.audit-failed": "it could not be recorded who was let in",
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
        "proximity.sharing-failed": "the session cannot be offered to devices nearby",
        "proximity.sharing-interrupted": "the session is not offered for now, as Bluetooth failed",
        "proximity.sharing-started": "the session is offered to devices nearby",
        "proximity.sharing-stopped": "the session is no longer offered",
        "proximity.unambiguous": "one device alone waits for consent again",
    ]
}
