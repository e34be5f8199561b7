import ArgumentParser
import Groundwork
import LocalAPI

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Log in on this board: by password, or with a device nearby that is logged in.",
        discussion: """
            By password, which is asked for without echo, up to three times; it can be given elsewhere too, with \
            'latchkey prompts'. Where standard input is not a terminal, or with '--password-stdin', its first line is \
            the password. '--ble' lets a device nearby decide, over Bluetooth, '--qr' one that scans a code. '--browser' \
            shows an address to open elsewhere, and takes the one it leads to. A board that is not registered is \
            registered by it.

            At an account of an OAuth server, '--account NAME' alone does it: the account has its grant. A code to be \
            entered elsewhere is shown with a QR code.

              $ latchkey login --user alice
              $ latchkey login --qr
            """)

    @Option(help: "User name, for a login by password.") var user: String?
    @Flag(help: "Read the password from standard input.") var passwordStdin = false
    @Flag(help: "Log in by a device nearby, over Bluetooth.") var ble = false
    @Flag(help: "Log in by a QR code that another device scans.") var qr = false
    @Flag(help: "Log in with a browser on another machine, by authorization code.") var browser = false
    @Option(help: ArgumentHelp("Also write the QR code to a file, .svg or .png.", valueName: "file")) var picture:
        String?
    @Option(
        help: ArgumentHelp(
            "Who has to let this board in, with --ble or --qr; when another user does, nobody is logged in.",
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

    func validate() throws {
        let ways = [user != nil, ble, qr, browser].count { $0 }
        // An account at an OAuth server knows its way.
        guard ways == 1 || ways == 0 && account.account != nil else {
            throw ValidationError("give one of --user NAME, --ble, --qr and --browser")
        }
        guard account.account == nil || !ble && !qr else {
            throw ValidationError(
                "--account does not go with --ble and --qr: devices nearby log in at the default account")
        }
        guard expect == nil || ble || qr else { throw ValidationError("--expect goes with --ble and --qr") }
        guard picture == nil || qr else { throw ValidationError("--picture goes with --qr") }
        guard picture?.hasSuffix(".svg") != false || picture?.hasSuffix(".png") != false else {
            throw ValidationError("--picture is a file that ends with .svg or .png")
        }
    }

    func run() async throws {
        if let grant = try await AccountLogin.grant(of: account, by: options.client) {
            return try await AccountLogin(
                options: options, account: account, user: user, readsPassword: passwordStdin, assertion: assertion,
                scope: scope, light: light
            ).run(grant)
        }
        guard assertion == nil, scope == nil, user != nil || browser || ble || qr else {
            throw UsageError.invalid(
                message: "this account is at a gateway: give one of --user NAME and --browser", usage: nil)
        }
        if let user, !passwordStdin, Terminal.inputIsTerminal {
            let login = PromptedLogin(client: options.client, path: account.path("login/prompted"), userName: user)
            options.show(try await login.run(), Self.welcome)
        } else if let user {
            let password = try Input.firstLine(of: Input.standardInput(limit: 4096))
            let answer = try await options.client.post(
                account.path("login"), ["userName": .string(user), "password": .string(password)],
                timeout: .seconds(180))
            options.show(answer, Self.welcome)
        } else if browser {
            try await logInByBrowser()
        } else {
            try await logInNearby()
        }
    }

    static func welcome(_ answer: JSON) -> String {
        "logged in as \(answer["userName"]?.string ?? "a user without a name")"
    }

    private func logInByBrowser() async throws {
        let begun = try await options.client.post(account.path("login/browser"), [:], timeout: .seconds(90))
        Terminal.error(
            "Open this address in a browser, log in, and enter the address that it leads to:\n\n  \(begun["url"]?.string ?? "")\n"
        )
        Terminal.prompt("Address: ")
        let answer = try Input.line()
        options.show(
            try await options.client.post(
                account.path("login/browser/\(begun["id"]?.string ?? "")"), ["answer": .string(answer)],
                timeout: .seconds(180)),
            Self.welcome)
    }

    private func logInNearby() async throws {
        var isLoggedIn = false
        var body: [String: JSON] = ["by": .string(qr ? "qr" : "bluetooth")]
        if let expect { body["user"] = .string(expect) }
        for try await event in options.client.events("/v1/login/nearby", posting: .object(body)) {
            // Before the event is shown: its reader may need the file.
            if event.name == "qr-code", let picture { try Self.write(event.data, to: picture) }
            if options.json { Terminal.line(JSON.object(["event": .string(event.name), "data": event.data]).text) }
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

    private static func write(_ code: JSON, to path: String) throws {
        let bytes =
            path.hasSuffix(".svg")
            ? code["svg"]?.string.map { Array($0.utf8) } : code["png"]?.string.flatMap { Base64.decode($0) }
        try Output.file(path, bytes ?? [])
    }
}

struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Log the user out, at the gateway and here.",
        discussion: "The board stays registered, with its own certificate and tokens.")
    @Flag(help: "Log out here even if the gateway does not answer.") var force = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client.post(
            account.path("logout"), ["force": .bool(force)], timeout: .seconds(90))
        options.show(answer) { answer in
            "logged out \(Terminal.standardOutput.shown(answer["userName"]?.string ?? "a user without a name"))"
        }
    }
}

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who is logged in on this board.", discussion: "Ends with status 1 when nobody is.")
    @Flag(help: "Show the user's profile from the gateway.") var info = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let user = try await options.client.get(account.path(info ? "user/info" : "user"), timeout: .seconds(90))
        if info {
            return options.show(user) { user in
                var fields = Fields()
                for (key, value) in (user.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                    fields.add(key, value.string ?? value.text)
                }
                return Terminal.standardOutput.shown(fields.text)
            }
        }
        options.show(user) { user in
            guard user["loggedIn"]?.bool == true else { return "nobody is logged in" }
            var fields = Fields()
            fields.add("user", Terminal.standardOutput.shown(user["userName"]?.string ?? "without a name"))
            fields.add("since", user["loggedInAt"]?.string)
            fields.add("session ends", user["sessionEnds"]?.string)
            return fields.text
        }
        guard user["loggedIn"]?.bool == true else { throw ExitCode(1) }
    }
}
