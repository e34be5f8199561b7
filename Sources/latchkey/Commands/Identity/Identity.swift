import Agent
import AgentCore
import ArgumentParser
import Groundwork
import LocalAPI

struct Renew: RouteCommand {
    static let configuration = CommandConfiguration(commandName: "renew", abstract: "Renew the device certificate now.")
    @OptionGroup var options: AccountOptions

    func request() -> RouteRequest { .post("renew", timeout: .seconds(180), saying: "renewing the certificate") }

    func text(of answer: JSON) -> String { "certificate renewed, valid until \(answer["notAfter"]?.string ?? "?")" }
}

struct Deregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deregister",
        abstract: "Remove this board at the gateway of an account, and its identity here.",
        discussion: """
            Asks for confirmation. Without --account, the account that 'latchkey accounts use' chose is meant. When \
            the gateway refuses or does not answer, nothing is changed.
            """)
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let account = try await account.chosen(by: options.client)
        let warning = yes ? "" : try await Waiting.warning(by: options.client, of: account)
        try Confirmation.ask(
            "this removes the board's registration at the gateway of the account \(account.shown), and its identity "
                + "here\(warning)", isGiven: yes)
        let answer = try await ProgressLine.show("removing the registration") {
            try await options.client.post(account.path("deregister"), [:], timeout: .seconds(180))
        }
        options.show(answer) { "this board is no longer registered" + Waiting.discarded($0) }
    }
}

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget this board's identity at the gateway of an account, here only.",
        discussion: """
            Asks for confirmation. Without --account, the account that 'latchkey accounts use' chose is meant. The \
            gateway is not notified and keeps the old registration; 'latchkey deregister' removes both. Enrolled \
            again, the board is another device.
            """)

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let account = try await account.chosen(by: options.client)
        let warning = yes ? "" : try await Waiting.warning(by: options.client, of: account)
        try Confirmation.ask(
            "this forgets the board's key, certificate and tokens of the account \(account.shown)\(warning)",
            isGiven: yes)
        let answer = try await options.client.post(account.path("reset"), [:])
        options.show(answer) { "local identity removed" + Waiting.discarded($0) }
    }
}

/// The messages that are lost with an identity.
enum Waiting {
    /// The warning about them in a question; empty if there are none.
    static func warning(by client: LocalClient, of account: ChosenAccount) async throws -> String {
        let status = try await client.get("/v1/status")
        let name = account.shown
        let usesBroker = status["accounts"]?.array?.first { $0["name"]?.string == name }?["usesBroker"]?.bool
        guard usesBroker == true else { return "" }
        let outbox = status["outbox"]
        let unsent = (outbox?["depth"]?.integer ?? 0) + (outbox?["deadLetters"]?.integer ?? 0)
        let unread = (status["inboxes"]?.array ?? []).reduce(0) { count, inbox in
            count + (inbox["unread"]?.integer ?? 0) + (inbox["dead"]?.integer ?? 0)
        }
        let parts = list(unsent, "that the broker does not have yet", unread, "that are not acknowledged")
        return parts.isEmpty ? "" : ", and deletes " + parts.joined(separator: " and ")
    }

    static func discarded(_ answer: JSON) -> String {
        let (unsent, unread) = (answer["discarded"]?.integer ?? 0, answer["discardedUnread"]?.integer ?? 0)
        let parts = list(unsent, "that the broker did not have", unread, "that were not acknowledged")
        return parts.isEmpty ? "" : "; deleted " + parts.joined(separator: " and ")
    }

    private static func list(_ unsent: Int64, _ why: String, _ unread: Int64, _ whyUnread: String) -> [String] {
        let ofOutbox = unsent == 0 ? nil : "\(Amount.of(unsent, "message")) of the outbox \(why)"
        let ofInboxes = unread == 0 ? nil : "\(Amount.of(unread, "message")) of inboxes \(whyUnread)"
        return [ofOutbox, ofInboxes].compactMap(\.self)
    }
}
