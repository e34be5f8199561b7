import ArgumentParser
import Groundwork
import LocalAPI

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in on this board: by password, in a browser, with a device nearby, or by a token.",
        discussion: """
            By password, which is asked for without echo, up to three times; it can be given elsewhere too, with \
            'latchkey prompts'. Where standard input is not a terminal, or with '--password-stdin', its first line is \
            the password. '--ble' lets a device nearby decide, over Bluetooth, '--qr' one that scans a code. \
            '--browser', '--provider' and '--page' show an address to open, '--phone' as a code for a phone; the \
            command waits until the browser is done, or takes its final address. '--code' and '--jwt' take \
            a code or a token, which another program has obtained, from the first line of standard input. The login \
            also registers a board that is not registered yet.

            At an account of an OAuth server, '--account NAME' alone does it: the account has its grant. A code to be \
            entered elsewhere is shown with a QR code. For a browser of this machine the command waits at a port of \
            its own, which it adds to a redirect URI without one; '--no-listen' leaves the URI unchanged, for servers \
            that require an exact match.

              $ latchkey login --user alice
              $ latchkey login --provider google
              $ latchkey login --phone
              $ latchkey login --qr
              $ latchkey login --jwt < token.txt
            """)

    @Option(help: "User name, for a login by password.") var user: String?
    @Flag(help: "Read the password from standard input.") var passwordStdin = false
    @Flag(help: "Log in by a device nearby, over Bluetooth.") var ble = false
    @Flag(help: "Log in by a QR code that another device scans.") var qr = false
    @Flag(help: "Log in with a browser, here or on another machine, by authorization code.") var browser = false
    @Option(help: ArgumentHelp("Log in with a browser, by this provider of the gateway.", valueName: "name"))
    var provider: String?
    @Flag(help: "Log in with a browser, by the gateway's own login page.") var page = false
    @Flag(help: "Log in with the browser of a phone, which scans the address.") var phone = false
    @Flag(help: "Do not listen for the redirect; paste the final address instead.")
    var noListen = false
    @Flag(help: "List the gateway's providers.") var providers = false
    @Flag(help: "Log in by an authorization code that standard input gives; its verifier is the second line.")
    var code = false
    @Option(
        help: ArgumentHelp("Redirect URI of the code's request, if not the configured one.", valueName: "uri"))
    var redirectURI: String?
    @Flag(help: "Log in by a JWT that standard input gives, such as an id_token.") var jwt = false
    @Option(help: ArgumentHelp("The grant type of the JWT, if it is not the standard one.", valueName: "uri"))
    var type: String?
    @Flag(help: "End the login by the code that the board shows.") var stop = false
    @Option(help: ArgumentHelp("Also write the QR code to a file, .svg or .png.", valueName: "file")) var picture:
        String?
    @Option(
        help: ArgumentHelp(
            "Expected approver, with --ble or --qr; a login approved by anyone else is rejected.",
            valueName: "user"))
    var expect: String?
    @Option(
        help: ArgumentHelp(
            "An assertion to log in with at an OAuth server; '-' is standard input.", valueName: "file"))
    var assertion: String?
    @Option(help: "A scope other than the account's, at an OAuth server.") var scope: String?
    @Flag(help: "Draw it for a terminal with dark text on a light background.") var light = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    private var isNearby: Bool { ble || qr || stop }
    private var isInBrowser: Bool { browser || provider != nil || page || phone }
    /// How many ways to log in are asked for.
    private var ways: Int { [user != nil, ble, qr, isInBrowser, providers, code, jwt, stop].count { $0 } }

    func validate() throws {
        // An account at an OAuth server knows its way, and the daemon which account is meant.
        guard ways <= 1 else {
            throw ValidationError("give one of --user NAME, --ble, --qr, --browser, --provider NAME, --code and --jwt")
        }
        guard provider == nil || !page else { throw ValidationError("give one of --provider and --page") }
        guard account.account == nil || !isNearby else {
            throw ValidationError(
                "--account cannot be used with --ble or --qr: devices nearby log in at the default account")
        }
        guard !noListen || isInBrowser || ways == 0 else {
            throw ValidationError("--no-listen requires a login in a browser")
        }
        guard expect == nil || ble || qr else { throw ValidationError("--expect requires --ble or --qr") }
        guard redirectURI == nil || code else { throw ValidationError("--redirect-uri requires --code") }
        guard type == nil || jwt else { throw ValidationError("--type requires --jwt") }
        guard picture == nil || qr || phone else { throw ValidationError("--picture requires --qr or --phone") }
        guard picture?.hasSuffix(".svg") != false || picture?.hasSuffix(".png") != false else {
            throw ValidationError("--picture is a file that ends with .svg or .png")
        }
    }

    func run() async throws {
        // Devices nearby log in at the default account, whichever is in use.
        let account = isNearby ? ChosenAccount(name: nil) : try await account.chosen(by: options.client)
        if let grant = try await AccountLogin.grant(of: account, by: options.client) {
            guard provider == nil, !page, !phone, !providers, !code, !jwt else {
                throw UsageError.invalid(message: "this account is at an OAuth server, not at a gateway", usage: nil)
            }
            return try await AccountLogin(
                options: options, account: account, user: user, readsPassword: passwordStdin, assertion: assertion,
                scope: scope, light: light, listens: !noListen
            ).run(grant)
        }
        guard assertion == nil, scope == nil, ways == 1 else {
            throw UsageError.invalid(
                message: "this account is at a gateway: give one of --user NAME, --browser and the others", usage: nil)
        }
        if let user, !passwordStdin, Terminal.inputIsTerminal {
            let login = PromptedLogin(
                client: options.client, path: account.path("login/prompted"), body: ["userName": .string(user)])
            options.show(try await login.run(), Self.welcome)
        } else if let user {
            let password = try SecretAnswer.line()
            try await logIn(account.path("login"), ["userName": .string(user), "password": .string(password)])
        } else if isInBrowser {
            let login = BrowserLogin(
                client: options.client, path: account.path("login/browser"), provider: provider, isPage: page,
                isForPhone: phone, picture: picture, light: light, asJSON: options.json, listens: !noListen)
            options.show(try await login.run(), Self.welcome)
        } else if providers {
            try await listProviders(of: account)
        } else if code {
            let lines = try Input.lines(of: Input.standardInput(limit: 4096)).filter { !$0.isEmpty }
            var body: [String: JSON] = ["code": .string(lines.first ?? "")]
            if lines.count > 1 { body["verifier"] = .string(lines[1]) }
            if let redirectURI { body["redirectUri"] = .string(redirectURI) }
            try await logIn(account.path("login/code"), .object(body))
        } else if jwt {
            let token = try Input.firstLine(of: Input.standardInput(limit: 16_384))
            var body: [String: JSON] = ["token": .string(token)]
            if let type { body["type"] = .string(type) }
            try await logIn(account.path("login/jwt"), .object(body))
        } else if stop {
            let answer = try await options.client.delete("/v1/login/nearby")
            options.show(answer) { $0["ended"]?.bool == true ? "no longer shown" : "no code is shown" }
        } else {
            try await logInNearby()
        }
    }

    static func welcome(_ answer: JSON) -> String {
        "logged in as \(Terminal.standardOutput.shown(answer["userName"]?.string ?? "a user without a name"))"
    }

    private func logIn(_ path: String, _ body: JSON) async throws {
        options.show(
            try await ProgressLine.show("logging in") {
                try await options.client.post(path, body, timeout: .seconds(180))
            },
            Self.welcome)
    }

    /// The gateway lists its providers with each login that begins, so one is begun and given up.
    private func listProviders(of account: ChosenAccount) async throws {
        let begun = try await options.client.post(
            account.path("login/browser"), ["list": true], timeout: .seconds(90))
        _ = try await options.client.delete(account.path("login/browser/\(begun["id"]?.string ?? "")"))
        let names = (begun["providers"]?.array ?? []).compactMap { $0["id"] }
        let answer: JSON = ["providers": .array(names), "takesPasswords": begun["takesPasswords"] ?? .null]
        options.show(answer) { answer in
            let password = answer["takesPasswords"]?.bool == true ? ["password (--user NAME)"] : []
            return Terminal.standardOutput.shown((names.compactMap(\.string) + password).joined(separator: "\n"))
        }
    }

    private func logInNearby() async throws {
        var isLoggedIn = false
        var body: [String: JSON] = ["by": .string(qr ? "qr" : "bluetooth")]
        if let expect { body["user"] = .string(expect) }
        for try await event in options.client.events("/v1/login/nearby", posting: .object(body)) {
            // Before the event is shown: its reader may need the file.
            if event.name == "qr-code", let picture { try Output.picture(event.data, to: picture) }
            if options.json { Terminal.json(["event": .string(event.name), "data": event.data]) }
            switch event.name {
            case "qr-code":
                if !options.json { try QRText.show(event.data["text"]?.string ?? "", light: light) }
            case "logged-in":
                isLoggedIn = true
                if !options.json { Terminal.line(Self.welcome(event.data)) }
            // The error that ends the login says the same, with a remedy.
            case "proximity.login-failed", "proximity.authorization-error-received": break
            default:
                if !options.json {
                    Terminal.error(Terminal.standardError.shown(event.data["text"]?.string ?? event.name))
                }
            }
        }
        guard isLoggedIn else { throw LocalAPIError.noAnswer(reason: "the daemon ended the login without a result") }
    }
}

extension Output {
    /// Writes a QR code of the daemon to a file, in the form that its name says.
    static func picture(_ code: JSON, to path: String) throws {
        let bytes =
            path.hasSuffix(".svg")
            ? code["svg"]?.string.map { Array($0.utf8) } : code["png"]?.string.flatMap { Base64.decode($0) }
        try file(path, bytes ?? [])
    }
}
