import ArgumentParser
import Groundwork

/// What makes an account at a broker.
struct BrokerAccountOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The broker: mqtts://HOST, mqtt://HOST, wss://HOST/PATH or ws://HOST/PATH, with a port where it is another.",
            valueName: "url"))
    var broker: String?
    @Option(help: ArgumentHelp("Tried while the first does not answer; may be repeated.", valueName: "url"))
    var fallback: [String] = []
    @Option(help: ArgumentHelp("At a broker: the user name.", valueName: "name")) var user: String?
    @Flag(help: "At a broker: read the password from standard input, its first line.") var passwordStdin = false
    @Option(
        help: ArgumentHelp("At a broker: the board's certificate in PEM, its issuers after it.", valueName: "file"))
    var certificate: String?
    @Option(help: ArgumentHelp("The key of the certificate: PKCS#8 in PEM, unencrypted.", valueName: "file"))
    var key: String?
    @Option(
        help: ArgumentHelp(
            "At a broker: the access token of this account, of --scope, is the password.", valueName: "account"))
    var tokenOf: String?
    @Flag(name: .customLong("public"), help: "Trust the system's authorities too, beside --authorities.")
    var usesPublic = false
    @Option(
        help: ArgumentHelp(
            "At a broker: the board's topics, such as 'sites/{device}/{name}'.", valueName: "template"))
    var topics: String?
    @Option(help: ArgumentHelp("At a broker: the protocol that TLS names, such as mqtt.", valueName: "name"))
    var alpn: String?
    @Flag(help: "Send the board's messages there; done by itself where they go nowhere else.") var forMessages = false

    func validate() throws {
        guard broker != nil else {
            let given: [(String, Bool)] = [
                ("user", user != nil), ("password-stdin", passwordStdin), ("certificate", certificate != nil),
                ("key", key != nil), ("token-of", tokenOf != nil), ("public", usesPublic), ("topics", topics != nil),
                ("alpn", alpn != nil), ("for-messages", forMessages), ("fallback", !fallback.isEmpty),
            ]
            if let (name, _) = given.first(where: \.1) { throw ValidationError("--\(name) needs --broker") }
            return
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("give --certificate and --key together")
        }
        guard !passwordStdin || user != nil else { throw ValidationError("--password-stdin needs --user") }
        guard !passwordStdin || tokenOf == nil else {
            throw ValidationError("give --password-stdin or --token-of, not both")
        }
    }

    /// - Returns: `nil` without a broker.
    func request(_ name: String, clientID: String?, scope: String?, authorities: String?) throws -> RouteRequest? {
        guard let broker else { return nil }
        func text(_ path: String?) throws -> JSON? {
            try path.map { .string(ReceivedText.decodeWherePossible(try Input.file($0, limit: 1 << 18))) }
        }
        let password = passwordStdin ? try Input.firstLine(of: Input.standardInput(limit: 1 << 15)) : nil
        return .post(
            "brokers",
            [
                "name": .string(name), "url": .string(broker),
                "fallbacks": fallback.isEmpty ? nil : .array(fallback.map(JSON.string)),
                "userName": user.map(JSON.string),
                "password": password.map(JSON.string), "certificate": try text(certificate), "key": try text(key),
                "tokenOf": tokenOf.map(JSON.string), "tokenScope": tokenOf == nil ? nil : scope.map(JSON.string),
                "authorities": try text(authorities), "public": usesPublic ? true : nil,
                "alpn": alpn.map(JSON.string), "clientID": clientID.map(JSON.string),
                "topics": topics.map(JSON.string), "forMessages": forMessages ? true : nil,
            ], timeout: .seconds(60), saying: "connecting")
    }

    static func describe(_ broker: JSON, in fields: inout Fields) {
        let out = Terminal.standardOutput
        fields.add("broker", broker["address"]?.string.map(out.shown))
        if broker["tls"]?.bool == false { fields.add("protection", out.yellow("none: anyone on the way can read")) }
        fields.add("login", broker["login"]?.string)
        fields.add("client ID", broker["clientID"]?.string.map(out.shown))
        fields.add("topics", broker["topics"]?.string.map(out.shown))
        fields.add("state", broker["state"]?.string)
        fields.add("last error", broker["lastError"]?["message"]?.string.map(out.shown))
    }
}
