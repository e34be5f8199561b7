import ArgumentParser
import Groundwork
import LocalAPI

struct Lock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock the logged-in user's session with a passcode.",
        discussion: """
            The user's tokens are revoked, and the session is sealed: until it is unlocked, nothing works in the \
            user's name, and no user can log in or out. The board's own work goes on. The passcode is asked for twice \
            without echo; it can be given elsewhere too, with 'latchkey prompts'. Where standard input is not a \
            terminal, or with '--passcode-stdin', its first line is the passcode. '--remove' gives up a locked \
            session: the user must log in again.

              $ latchkey lock
              $ latchkey unlock
            """)
    @Flag(help: "Give up the locked session.") var remove = false
    @Flag(help: "Read the passcode from standard input.") var passcodeStdin = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !remove || !passcodeStdin else { throw ValidationError("--passcode-stdin cannot be used with --remove") }
    }

    func run() async throws {
        if remove {
            let answer = try await options.client.delete(
                account.path("session/lock", by: options.client), timeout: .seconds(90))
            return options.show(answer) { answer in
                answer["changed"]?.bool == true ? "the locked session is given up; log in again" : "nothing is locked"
            }
        }
        let asking = SecretAnswer(client: options.client, member: "passcode", isGiven: passcodeStdin)
        let answer = try await asking.post(account.path("session/lock", by: options.client), endingWith: "locked")
        options.show(answer) { answer in
            let name = Terminal.standardOutput.shown(answer["userName"]?.string ?? "a user without a name")
            let was = answer["changed"]?.bool == true ? "" : " already, by the passcode that was set then"
            return "the session of \(name) is locked\(was)"
        }
    }
}

struct Unlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock the user's session with its passcode.",
        discussion: """
            The passcode is asked for without echo; it can be given elsewhere too, with 'latchkey prompts'. Where \
            standard input is not a terminal, or with '--passcode-stdin', its first line is the passcode. If \
            needs_button is set in [lock], a press of the board's button is needed too. After too many wrong \
            passcodes, or if the session has ended in the meantime, the user must log in again.
            """)
    @Flag(help: "Read the passcode from standard input.") var passcodeStdin = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let asking = SecretAnswer(client: options.client, member: "passcode", isGiven: passcodeStdin)
        let answer = try await asking.post(account.path("session/unlock", by: options.client), endingWith: "unlocked")
        options.show(answer) { answer in
            guard answer["changed"]?.bool == true else { return "nothing is locked" }
            return "unlocked; \(Terminal.standardOutput.shown(answer["userName"]?.string ?? "the user")) is logged in"
        }
    }
}
