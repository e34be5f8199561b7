import Groundwork
import LocalAPI

/// Makes the board's account at a broker: tries what is answered, says what failed, and asks for that again.
struct BrokerSetup {
    /// The name of the account.
    static let account = "home"

    let client: LocalClient
    /// Whether a person answers.
    let isAsking: Bool

    private enum Outcome {
        case connected
        case failed(code: String, message: String, remedy: String?)
    }

    /// - Returns: whether the board is connected; where no person answers, it may go on trying.
    /// - Throws: `LocalAPIError`; ``Declined`` at the end of the input; ``SetupError`` for a file of answers that are
    ///   refused.
    func run(_ given: BrokerAnswers) async throws -> Bool {
        var answers = given
        if isAsking { try askAll(&answers) }
        var isPlain = false
        while true {
            let outcome = try await attempt(answers, isPlain: isPlain)
            guard case .failed(let code, let message, let remedy) = outcome else { return true }
            let isAway = ["messaging.cannot-connect", "messaging.connect-timeout"].contains(code)
            guard isAsking else {
                // The board goes on trying, as it does after a power cut.
                if isAway {
                    Terminal.error("latchkey: not connected yet: \(message)")
                    return false
                }
                try await forget()
                throw SetupError.brokerRefuses(reason: message, remedy: remedy)
            }
            try await forget()
            let out = Terminal.standardError
            // A broker without TLS hangs up on the first bytes of TLS.
            let isWithoutTLS = (isAway || code == "messaging.connection-lost") && !answers.hasScheme && !isPlain
            if !isWithoutTLS { Terminal.error(out.red("It does not work: \(out.shown(message))")) }
            switch code {
            case _ where isWithoutTLS:
                let answer = try Setup.ask(
                    "Nothing answers with TLS there. Connect without it? Everyone on the way can read then. [y/N] ")
                isPlain = ["y", "yes"].contains(answer.lowercased())
                if !isPlain { try askAddress(&answers) }
            case "messaging.tls-refused":
                let path = try Setup.ask("File with the certificate of the broker's authority (PEM): ")
                answers.authorities = try BrokerAnswers.certificates(in: path)
            case "messaging.refused": try askLogin(&answers)
            default:
                if let remedy { Terminal.error(out.shown(remedy)) }
                isPlain = false
                try askAddress(&answers)
            }
        }
    }

    private func attempt(_ answers: BrokerAnswers, isPlain: Bool) async throws -> Outcome {
        let account = try await ProgressLine.show("connecting") {
            try await client.post("/v1/brokers", answers.request(isPlain: isPlain), timeout: .seconds(60))
        }
        guard account["broker"]?["state"]?.string != "connected" else { return .connected }
        let error = account["broker"]?["lastError"]
        return .failed(
            code: error?["code"]?.string ?? "", message: error?["message"]?.string ?? "there is no connection yet",
            remedy: error?["remedy"]?.string)
    }

    private func forget() async throws { _ = try await client.delete("/v1/accounts/\(Self.account)") }

    private func askAll(_ answers: inout BrokerAnswers) throws {
        try askAddress(&answers)
        try askLogin(&answers)
    }

    private func askAddress(_ answers: inout BrokerAnswers) throws {
        let preset = answers.address
        repeat {
            let answer = try Setup.ask("Broker, such as broker.lan" + (preset.isEmpty ? ": " : " [\(preset)]: "))
            answers.address = answer.isEmpty ? preset : answer
        } while answers.address.isEmpty
    }

    private func askLogin(_ answers: inout BrokerAnswers) throws {
        let user = try Setup.ask("User name, if the broker wants one: ")
        (answers.user, answers.password) = (user.isEmpty ? nil : user, nil)
        if !user.isEmpty { answers.password = try Input.withoutEcho("Password of \(user): ") }
    }
}

/// Why a board could not be set up by a file of answers.
enum SetupError: Explained, Equatable {
    case brokerRefuses(reason: String, remedy: String?)
    /// Neither a reading nor a message came back from the broker.
    case nothingArrives(seconds: Int)

    var explanation: Explanation {
        switch self {
        case .brokerRefuses(let reason, let remedy):
            Explanation(
                "setup.broker-refuses", .refused, "the board cannot use this broker: \(reason)",
                remedy: remedy ?? "correct the answers, and run the command again: nothing was kept")
        case .nothingArrives(let seconds):
            Explanation(
                "setup.nothing-arrives", .temporary,
                "the board is connected, but nothing of it came back within \(seconds) seconds",
                remedy: "see what the broker lets this board publish and subscribe to, and: latchkey status")
        }
    }

    static let examples: [SetupError] = [
        .brokerRefuses(reason: "REASON", remedy: nil), .nothingArrives(seconds: 8),
    ]
}
