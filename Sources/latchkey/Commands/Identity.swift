import ArgumentParser
import Groundwork
import LocalAPI

struct Renew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Renew the device certificate now.")
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client.post("/v1/renew", [:], timeout: .seconds(180))
        options.show(answer) { "certificate renewed, valid until \($0["notAfter"]?.string ?? "?")" }
    }
}

struct Deregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove this board at the gateway, and its identity here.",
        discussion: "When the gateway refuses or does not answer, everything stays as it is.")
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client.post("/v1/deregister", [:], timeout: .seconds(180))
        options.show(answer) { "this board is no longer registered" + Waiting.discarded($0) }
    }
}

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget the identity at the active gateway, here only.",
        discussion: """
            The gateway is not told and keeps the old registration; 'latchkey deregister' removes both. Enrolled again, the
            board is another device.
            """)

    @Flag(help: "Do it without asking.")
    var yes = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        if !yes {
            let warning = try await Waiting.warning(by: options.client)
            guard confirmed(warning) else { throw ExitCode(ExitStatus.usage.rawValue) }
        }
        let answer = try await options.client.post("/v1/reset", [:])
        options.show(answer) { "the local identity is gone" + Waiting.discarded($0) }
    }

    private func confirmed(_ warning: String) -> Bool {
        guard Terminal.standardOutput.isTerminal else {
            Terminal.error("latchkey: reset forgets this board's identity; add --yes to do it without a terminal")
            return false
        }
        Terminal.line("This forgets the board's key, certificate and tokens\(warning). Continue? [y/N]")
        return readLine().map { $0.lowercased() == "y" || $0.lowercased() == "yes" } ?? false
    }
}

/// The messages that are lost with an identity.
enum Waiting {
    /// What a question says of them; empty where there are none.
    static func warning(by client: LocalClient) async throws -> String {
        let outbox = try await client.get("/v1/status")["outbox"]
        let count = (outbox?["depth"]?.integer ?? 0) + (outbox?["deadLetters"]?.integer ?? 0)
        return count == 0 ? "" : ", and deletes \(messages(count)) that the broker does not have yet"
    }

    static func discarded(_ answer: JSON) -> String {
        let count = answer["discarded"]?.integer ?? 0
        return count == 0 ? "" : "; \(messages(count)) that the broker did not have \(count == 1 ? "was" : "were") deleted"
    }

    private static func messages(_ count: Int64) -> String { count == 1 ? "1 message" : "\(count) messages" }
}

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a valid access token, for a program of your own.",
        discussion: "  $ curl -H \"Authorization: Bearer $(latchkey token)\" …")
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client.get("/v1/token", timeout: .seconds(90))
        options.show(answer) { $0["accessToken"]?.string ?? "" }
    }
}
