import Groundwork

extension Schema {
    /// The explanation of an error, as members of an object: in an answer, an event or a part of the status.
    public static let explanation: [String: Schema] = [
        "code": .string("stable, for programs: room.what-happened"), "kind": kindOfError,
        "message": .string("what happened, human-readable"),
        "remedy": .string("what to do about it, if anything can be done"),
        "cause": .string("the code of the error that led to this one"), "gateway": gatewayNumbers,
        "numbers": .array(of: clientNumber, "what the public clients of other systems call it"),
        "status": .string("name in the public clients of M-Pin, such as INCORRECT_PIN; only for M-Pin's errors"),
        "browserAnswer": browserAnswer,
    ]

    /// The required members of ``explanation``.
    public static let requiredOfExplanation: Set = ["code", "kind", "message"]

    private static let kindOfError = named(
        "ErrorKind",
        .string(
            "The kind of error; it determines the HTTP status and the exit status of the command",
            choices: ExplanationKind.allCases.map(\.rawValue)))

    private static let browserAnswer = named(
        "BrowserAnswerFault",
        .string(
            "Why the browser's final address does not complete the login, which is still waiting",
            choices: BrowserAnswerFault.allCases.map(\.rawValue)))

    private static let clientNumber = named(
        "ClientNumber",
        .object(
            [
                "domain": .string(
                    "the numbering that the number belongs to",
                    choices: ClientNumber.Domain.allCases.map(\.rawValue)),
                "number": .integer("the number"),
            ], required: ["domain", "number"], "A number of a system's public clients"))

    private static let gatewayNumbers = named(
        "GatewayNumbers",
        .object(
            [
                "domain": .string(
                    "the numbering that the number belongs to",
                    choices: GatewayNumbers.Domain.allCases.map(\.rawValue)),
                "number": .integer("the gateway's own number, or the one that the protocol's public clients use"),
                "xCaErr": .integer("the x-ca-err header of the gateway's answer"),
                "httpStatus": .integer("the HTTP status of the gateway's answer"),
            ], required: ["domain", "number"], "The error in the terms of the gateway's protocol"))
}
