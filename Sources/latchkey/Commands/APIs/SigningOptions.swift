import ArgumentParser
import Groundwork

/// How the body of a call is signed.
struct SigningOptions: ParsableArguments {
    @Flag(help: "Send the body as a signed token (JWS), by the device's key unless --sign-key names another.")
    var sign = false
    @Option(help: ArgumentHelp("The name of a key: latchkey keys.", valueName: "name")) var signKey: String?
    @Option(
        help: ArgumentHelp(
            "A claim, added or replacing a usual one: name=text, or name:=JSON; may be repeated.",
            valueName: "name=value"))
    var claim: [String] = []
    @Option(
        help: ArgumentHelp(
            "The audience, such as the URL of the call; by default the gateway's host name.", valueName: "name"))
    var signFor: String?
    @Option(help: ArgumentHelp("How long it is valid, in seconds.", valueName: "seconds")) var signSeconds: Int?
    @Option(
        help: ArgumentHelp("Time when it becomes valid, in seconds since 1970.", valueName: "seconds"))
    var signNotBefore: Int?
    @Option(help: "What is sent: plain (the token alone), json or form (with the token as jwt).") var signWrap: String?

    func validate() throws {
        let hasMore =
            signKey != nil || !claim.isEmpty || signFor != nil || signSeconds != nil || signNotBefore != nil
            || signWrap != nil
        guard sign || !hasMore else { throw ValidationError("--claim and --sign-… require --sign") }
        try Claims.check(claim)
    }

    /// The member `sign` of the request.
    var member: JSON? {
        get throws {
            guard sign else { return nil }
            var members: [String: JSON] = [:]
            members["key"] = signKey.map(JSON.string)
            members["audience"] = signFor.map(JSON.string)
            members["lifetimeSeconds"] = signSeconds.map { .integer(Int64($0)) }
            members["notBefore"] = signNotBefore.map { .integer(Int64($0)) }
            members["wrap"] = signWrap.map(JSON.string)
            members["claims"] = try Claims.object(claim)
            return .object(members)
        }
    }
}

/// Claims as a person writes them: `name=text`, or `name:=JSON`.
enum Claims {
    /// Those whose values are times, which are numbers (RFC 7519 section 4.1).
    private static let times: Set = ["exp", "iat", "nbf"]

    /// - Throws: `ValidationError` for what is no claim, and for one that is given twice.
    static func check(_ claims: [String]) throws {
        let names = try claims.map { try claim($0).name }
        guard Set(names).count == names.count else { throw ValidationError("a claim is given twice") }
    }

    /// - Returns: `nil` if there are none.
    static func object(_ claims: [String]) throws -> JSON? {
        claims.isEmpty ? nil : .object(.init(uniqueKeysWithValues: try claims.map(claim)))
    }

    private static func claim(_ text: String) throws -> (name: String, value: JSON) {
        guard let equals = text.firstIndex(of: "=") else {
            throw ValidationError("a claim has the form name=value, not '\(text)'")
        }
        let (name, value) = (text[..<equals], String(text[text.index(after: equals)...]))
        guard name.last == ":" else {
            let time = times.contains(String(name)) ? Int64(value).map(JSON.integer) : nil
            return (String(name), time ?? .string(value))
        }
        guard let json = try? JSON(parsing: Array(value.utf8)) else {
            throw ValidationError("the claim '\(name.dropLast())' is not JSON: '\(value)'")
        }
        return (String(name.dropLast()), json)
    }
}
