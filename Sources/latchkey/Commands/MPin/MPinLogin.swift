#if MPin
import ArgumentParser
import Groundwork
import LocalAPI

/// What the ways to log in have in common.
struct MPinLoginOptions: ParsableArguments {
    @Flag(help: "Read the PIN from standard input, its first line.") var pinStdin = false
    @OptionGroup var options: MPinUserOptions

    func run(_ body: [String: JSON], _ describe: (JSON) -> String) async throws {
        let path = try await options.path("login")
        let answer = try await SecretAnswer(client: options.client, member: "pin", isGiven: pinStdin)
            .post(path, body, endingWith: "logged-in")
        options.show(answer, describe)
    }

    static func welcome(_ answer: JSON) -> String {
        "\(Terminal.standardOutput.shown(answer["user"]?.string ?? "?")) is logged in"
    }
}

struct MPinLogin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in with the PIN.",
        discussion: """
            Ends with status 76 when the PIN is wrong. The back end counts wrong PINs in a row; after a \
            few, the user is blocked and has to be registered again. '--json' prints what the back end's application \
            answered.
            """)
    @OptionGroup var common: MPinLoginOptions

    func run() async throws { try await common.run(["by": "login"], MPinLoginOptions.welcome) }
}

struct MPinOTP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp", abstract: "Get a one-time password, to be entered elsewhere.")
    @OptionGroup var common: MPinLoginOptions

    func run() async throws {
        try await common.run(["by": "otp"]) { answer in
            let seconds = answer["otp"]?["ttlSeconds"]?.integer.map { "  (valid for \(Amount.of($0, "second")))" }
            return Terminal.standardOutput.shown(answer["otp"]?["password"]?.string ?? "")
                + Terminal.standardOutput.dim(seconds ?? "")
        }
    }
}

struct MPinAccessNumber: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access-number",
        abstract: "Log in a browser that shows an access number, or whose code was scanned.",
        discussion: "A number's check digit is verified before anything is asked. A code has 32 characters.")
    @Argument(help: "The number or code that the browser shows.") var number: String
    @OptionGroup var common: MPinLoginOptions

    func run() async throws {
        try await common.run(["by": "access-number", "accessNumber": .string(number)], MPinLoginOptions.welcome)
    }
}

struct MPinMFA: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mfa", abstract: "Log in, and print the authorization code that a server asks for.")
    @OptionGroup var common: MPinLoginOptions

    func run() async throws {
        try await common.run(["by": "mfa"]) { Terminal.standardOutput.shown($0["code"]?.string ?? "") }
    }
}

struct MPinSession: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Show which login a browser's code belongs to.")
    @Argument(help: "The code, as scanned.") var code: String
    @OptionGroup var options: MPinAccountOptions

    func request() -> RouteRequest { .post("session", ["accessCode": .string(code)], timeout: .seconds(90)) }

    func text(of answer: JSON) -> String {
        let out = Terminal.standardOutput
        var fields = Fields()
        fields.add("application", answer["appName"]?.string.map(out.shown))
        fields.add("logo", answer["appLogoURL"]?.string.map(out.shown))
        fields.add("user", answer["prerollID"]?.string.map(out.shown))
        return fields.text.isEmpty ? "the back end reports nothing about it" : fields.text
    }
}

struct MPinLogout: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "End the session of a browser that was logged in from here.",
        discussion: "Ends with status 1 if there is none that can be ended from here.")
    @OptionGroup var options: MPinUserOptions

    func run() async throws {
        let answer = try await sendAndShow()
        guard answer["loggedOut"]?.bool == true else { throw ExitCode(1) }
    }

    func request() -> RouteRequest { .post("logout", timeout: .seconds(90)) }

    func text(of answer: JSON) -> String {
        answer["loggedOut"]?.bool == true ? "logged out" : "there is no session to end"
    }
}
#endif
