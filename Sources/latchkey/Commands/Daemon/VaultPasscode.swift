import ArgumentParser
import Groundwork
import LocalAPI

// The vault's passcode, behind which is what the board has of persons.

struct VaultStatus: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the store's passcode is locked.")
    @OptionGroup var options: ClientOptions

    func request() -> RouteRequest { .get("vault") }
    func text(of answer: JSON) -> String { PasscodeText.fields(of: answer) }
}

struct VaultLock: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock what the board has of persons.",
        discussion: """
            Their logins, tokens and stored items need the passcode then; the board's own work goes on. Needs a \
            passcode: 'latchkey vault passcode set'.
            """)
    @OptionGroup var options: ClientOptions

    func request() -> RouteRequest { .post("vault/lock") }
    func text(of answer: JSON) -> String { PasscodeText.line(of: answer) }
}

struct VaultUnlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock what the board has of persons.",
        discussion: """
            The passcode is asked for without echo; it can be given elsewhere too, with 'latchkey prompts'. Where \
            standard input is not a terminal, or with '--passcode-stdin', its first line is the passcode. Each attempt \
            is counted before it is made, and the wait after a wrong one doubles.

            With '--stay' the passcode stays open until this command ends, however long that is.
            """)
    @Flag(help: "Read the passcode from standard input.") var passcodeStdin = false
    @Flag(help: "Keep it open until this command ends.") var stay = false
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let asking = SecretAnswer(client: options.client, member: "passcode", isGiven: passcodeStdin)
        let answer = try await asking.post("/v1/vault/unlock", endingWith: "unlocked")
        options.show(answer, PasscodeText.line)
        guard stay else { return }
        for try await event in options.client.events("/v1/vault/foreground") where event.name == "locked" {
            options.show(event.data, PasscodeText.line)
        }
    }
}

struct VaultForgotten: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "forgotten", abstract: "Erase everything behind a passcode that is forgotten.",
        discussion: """
            Logins, tokens and stored items of persons are gone for good, as is the passcode. The board stays \
            enrolled. Servers are not told: an administrator ends there what should not last.
            """)
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var options: ClientOptions

    func confirm() throws {
        try Confirmation.ask("this erases everything that persons have on this board", isGiven: yes)
    }

    func request() -> RouteRequest { .post("vault/forgotten", timeout: .seconds(60)) }
    func text(of answer: JSON) -> String { "everything behind the passcode is erased" }
}

/// What people read of the passcode.
enum PasscodeText {
    static func line(of answer: JSON) -> String {
        switch answer["passcode"]?["state"]?.string {
        case "set": answer["passcode"]?["locked"]?.bool == true ? "locked" : "unlocked"
        case "default": "the passcode is switched off; nothing is locked"
        case "wiping": "what was behind the passcode is being erased"
        default: "no passcode is set; nothing is locked"
        }
    }

    static func fields(of answer: JSON) -> String {
        let passcode = answer["passcode"]
        var fields = Fields()
        fields.add("passcode", line(of: answer))
        fields.add("opened by", answer["slot"]?.string)
        guard passcode?["state"]?.string == "set" else { return fields.text }
        fields.add("expires", passcode?["expires"]?.string)
        if let failures = passcode?["failures"]?.integer, failures > 0 {
            let left = passcode?["triesLeft"]?.integer.map { "; \($0) more until everything is erased" }
            fields.add("wrong tries", "\(failures)\(left ?? "")")
        }
        if let wait = passcode?["waitSeconds"]?.integer, wait > 0 { fields.add("next try", "in \(wait) s") }
        let hasChip = passcode?["hasHardware"]?.bool == true
        fields.add("chip", hasChip ? "has a part of the key" : "none: a copy of the disk and its key can be guessed at")
        return fields.text
    }
}
