import ArgumentParser
import Groundwork

extension Accounts {
    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add an account at an OAuth 2.0 or OpenID Connect server, or at a broker.",
            discussion: """
                At a broker, where a board without a gateway sends its messages:

                  $ latchkey accounts add home --broker mqtts://broker.lan --user board --password-stdin < secret

                The server describes itself at its issuer; a server that does not is described by --endpoint. The \
                client is one that the server's administrator has made, or --register asks for one.

                  $ latchkey accounts add cloud --issuer https://id.example --register
                  $ latchkey login --account cloud

                Grants: authorization_code, device_code, password, client_credentials, jwt_bearer, saml2_bearer, and \
                implicit, which shows tokens in addresses and is never chosen by itself. With \
                '--authentication private_key_jwt' the board makes a key, and 'accounts show' prints its public part \
                for the administrator.
                """)
        @Argument(help: "The name of the account.") var name: String
        @Option(help: ArgumentHelp("The server's issuer, exactly as the server writes it.", valueName: "url"))
        var issuer: String?
        @Option(help: ArgumentHelp("The client's ID at the server.", valueName: "id")) var clientID: String?
        @Flag(help: "Read the client secret from standard input, its first line.") var secretStdin = false
        @Option(
            help: ArgumentHelp(
                "none, client_secret_basic, client_secret_post or private_key_jwt; by default client_secret_basic "
                    + "with a secret, what the server offers with --register, otherwise none."))
        var authentication: String?
        @Option(help: "The algorithm of the client's key: ES256 or RS256.") var algorithm: String?
        @Option(help: "How the first token is obtained; by default authorization_code.") var grant: String?
        @Option(help: "The scope of tokens, separated by blanks.") var scope: String?
        @Option(help: ArgumentHelp("The redirect URI, at which the browser arrives.", valueName: "url"))
        var redirectURI: String?
        @Option(
            help: ArgumentHelp("An API that may get the tokens; may be repeated.", valueName: "url")) var resource:
            [String] = []
        @Option(
            help: ArgumentHelp(
                "An endpoint that the server does not announce, such as 'token_endpoint=https://…'; may be repeated.",
                valueName: "name=url"))
        var endpoint: [String] = []
        @Option(help: ArgumentHelp("Trust only these certificates, a PEM file.", valueName: "file")) var authorities:
            String?
        @Option(help: "Subject of the assertions that the board signs, for the grant jwt_bearer.") var subject: String?
        @Option(
            help: ArgumentHelp(
                "Audience of assertions signed with the client's key, if not the server's issuer.",
                valueName: "url"))
        var audience: String?
        @Flag(help: "Register the board as a client (RFC 7591).") var register = false
        @Flag(help: "Read the token for the registration from standard input, its first line.")
        var registrationTokenStdin = false
        @OptionGroup var broker: BrokerAccountOptions
        @OptionGroup var options: ClientOptions

        func validate() throws {
            _ = try AccountOption.name(name)
            guard broker.broker == nil else {
                let ofServers = [issuer, authentication, algorithm, grant, redirectURI, subject, audience]
                guard ofServers.allSatisfy({ $0 == nil }), !register, resource.isEmpty, endpoint.isEmpty else {
                    throw ValidationError("--broker cannot be combined with the options of an OAuth server")
                }
                return
            }
            guard !secretStdin || !registrationTokenStdin else {
                throw ValidationError("only one of --secret-stdin and --registration-token-stdin can be read")
            }
            guard register || clientID != nil else { throw ValidationError("give --client-id, or --register") }
            for text in endpoint where !text.contains("=") {
                throw ValidationError("an endpoint has the form 'name=url', not '\(text)'")
            }
        }

        func request() throws -> RouteRequest {
            if let request = try broker.request(name, clientID: clientID, scope: scope, authorities: authorities) {
                return request
            }
            func fields(_ texts: [String]) -> JSON {
                let pairs = texts.map { text in
                    let name = text.prefix { $0 != "=" }
                    return (String(name), JSON.string(String(text.dropFirst(name.count + 1))))
                }
                return .object(.init(pairs) { _, last in last })
            }
            let trusted = try authorities.map { ReceivedText.decodeWherePossible(try Input.file($0, limit: 1 << 18)) }
            let isSecret = secretStdin || registrationTokenStdin
            let secret = isSecret ? JSON.string(try Input.firstLine(of: Input.standardInput(limit: 1 << 15))) : nil
            return .post(
                "accounts",
                [
                    "name": .string(name), "issuer": issuer.map(JSON.string), "clientID": clientID.map(JSON.string),
                    "authentication": authentication.map(JSON.string), "algorithm": algorithm.map(JSON.string),
                    "grant": grant.map(JSON.string), "scope": scope.map(JSON.string),
                    "redirectURI": redirectURI.map(JSON.string), "subject": subject.map(JSON.string),
                    "audience": audience.map(JSON.string), "authorities": trusted.map(JSON.string),
                    "resources": resource.isEmpty ? nil : .array(resource.map(JSON.string)),
                    "endpoints": endpoint.isEmpty ? nil : fields(endpoint), "register": register ? true : nil,
                    "clientSecret": secretStdin ? secret : nil,
                    "registrationToken": registrationTokenStdin ? secret : nil,
                ], timeout: .seconds(120), saying: "asking the server")
        }

        func text(of answer: JSON) -> String { Accounts.details(answer) }
    }

    struct Show: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one account, with its tokens.")
        @Argument(help: "The name of the account.", completion: AccountOption.completion) var name: String
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func request() -> RouteRequest { .get("accounts/\(name)") }

        func text(of answer: JSON) -> String { Accounts.details(answer) }
    }

    struct Introspect: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "introspect",
            abstract: "Ask an OAuth server about the account's token (RFC 7662).")
        @Argument(help: "The name of the account.", completion: AccountOption.completion) var name: String
        @Option(help: "A scope of the token, separated by blanks.") var scope: String?
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func request() -> RouteRequest {
            .post("accounts/\(name)/introspect", ["scope": scope.map(JSON.string)], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { Terminal.standardOutput.shown(answer.prettyText) }
    }

    /// One account with its details, for a person.
    static func details(_ account: JSON) -> String {
        let out = Terminal.standardOutput
        var fields = Fields()
        fields.add("account", account["name"]?.string)
        if let broker = account["broker"] { BrokerAccountOptions.describe(broker, in: &fields) }
        guard let server = account["server"] else {
            return account["broker"] == nil ? fields.text + "\n" + summary(of: account) : fields.text
        }
        fields.add("issuer", server["issuer"]?.string.map(out.shown))
        fields.add("client", server["clientID"]?.string.map(out.shown))
        fields.add("authentication", server["authentication"]?.string)
        fields.add("grant", server["grant"]?.string)
        fields.add("scope", server["scope"]?.string)
        fields.add(
            "redirect URI", server["grant"]?.string == "authorization_code" ? server["redirectURI"]?.string : nil)
        fields.add("public key", server["publicKey"]?.text)
        for resource in server["resources"]?.array ?? [] { fields.add("resource", resource.string) }
        for token in account["tokens"]?.array ?? [] {
            let left = token["lifeLeft"]?.integer
            let life = left.map { $0 > 0 ? "valid for \($0) s" : "ended" } ?? "its lifetime is unknown"
            let scope = token["scope"]?.string.flatMap { $0.isEmpty ? nil : out.shown($0) }
            fields.add(
                "token",
                "\(scope ?? "no scope"), \(life)"
                    + (token["canBeRefreshed"]?.bool == true ? ", can be refreshed" : ""))
        }
        fields.add("user", account["user"]?["userName"]?.string.map(out.shown))
        if account["needsPerson"]?.bool == true {
            fields.add("next", "latchkey login --account \(account["name"]?.string ?? "")")
        }
        fields.add("last error", account["lastError"]?["message"]?.string.map(out.shown))
        return fields.text
    }
}
