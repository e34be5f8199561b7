import ArgumentParser
import Groundwork

struct Sign: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Print a signed token (JWS), for a program that sends it itself.",
        discussion: """
            It is the token that 'latchkey call --sign' sends, with the claims iss, aud, sub, exp, iat, jti, content \
            and content-type, and is sent nowhere. A claim of your own takes the place of a usual one; without a \
            payload, there is no content. A payload that is a JSON object or array is signed as JSON, otherwise as \
            text, or as bytes where it is not text; --type overrides that.

              $ latchkey sign '{"n":1}' --claim site=harbor
              $ latchkey sign @order.json --audience https://api.example/orders
              $ latchkey sign --key partner --claim iss=board-7 --lifetime 60
            """)

    @Argument(help: "The payload to sign; '@FILE' reads a file, '-' standard input.") var payload: String?
    @Option(help: "Type of the payload: json, form, text, xml or scim.") var type: String?
    @Option(help: ArgumentHelp("The name of a key, see latchkey keys; by default the device's own.", valueName: "name"))
    var key: String?
    @Option(
        help: ArgumentHelp(
            "A claim, added or replacing a usual one: name=text, or name:=JSON; may be repeated.",
            valueName: "name=value"))
    var claim: [String] = []
    @Option(
        help: ArgumentHelp(
            "The audience, such as the URL that it is sent to; by default the gateway's host name.",
            valueName: "name"))
    var audience: String?
    @Option(help: ArgumentHelp("How long it is valid, in seconds.", valueName: "seconds")) var lifetime: Int?
    @Option(help: ArgumentHelp("Time when it becomes valid, in seconds since 1970.", valueName: "seconds"))
    var notBefore: Int?
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The subject: board or user; by default the user while one is logged in.",
            valueName: "who"))
    var principal: String?
    @OptionGroup var options: AccountOptions

    func validate() throws {
        try Claims.check(claim)
        guard ["board", "user"].contains(principal ?? "board") else { throw ValidationError("--as is board or user") }
        guard type == nil || payload != nil else { throw ValidationError("--type requires a payload") }
    }

    func request() throws -> RouteRequest {
        let bytes = try payload.map { try Input.given($0, limit: Input.payloadLimit) }
        return .post(
            "sign",
            [
                "body": bytes.map { .string(Base64.encode($0)) },
                "type": bytes.flatMap { type ?? Self.type(of: $0) }.map(JSON.string), "key": key.map(JSON.string),
                "claims": try Claims.object(claim), "audience": audience.map(JSON.string),
                "lifetimeSeconds": lifetime.map { .integer(Int64($0)) },
                "notBefore": notBefore.map { .integer(Int64($0)) }, "as": principal.map(JSON.string),
            ],
            // A person may be asked to log in meanwhile.
            timeout: .seconds(600))
    }

    func text(of answer: JSON) -> String { answer["token"]?.string ?? "" }

    private static func type(of bytes: [UInt8]) -> String? {
        let json = try? JSON(parsing: bytes)
        if json?.object != nil || json?.array != nil { return "json" }
        return String(validating: bytes, as: UTF8.self) == nil ? nil : "text"
    }
}
