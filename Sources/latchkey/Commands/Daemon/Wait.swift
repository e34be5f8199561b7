import ArgumentParser
import Groundwork
import LocalAPI
import Synchronization

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the board is in a state that 'latchkey status' shows.",
        discussion: """
            Also waits for the daemon itself to start. It follows the daemon's events and asks for the status when \
            something has happened, never by the clock. With several --for, all of them have to hold at once. Exit \
            status 75 when the time is up.

              $ latchkey wait --for registered --timeout 120
              $ latchkey wait --for broker --for outbox-empty
            """)

    @Option(name: .customLong("for"), help: ArgumentHelp(WaitState.help, valueName: "state"))
    var states: [WaitState]
    @Option(help: ArgumentHelp("Maximum time to wait; unlimited by default.", valueName: "seconds"))
    var timeout: Int?
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !states.isEmpty else { throw ValidationError("give the state to wait for, such as --for registered") }
        if let timeout, timeout < 0 { throw ValidationError("--timeout is 0 or more") }
    }

    func run() async throws {
        let start = ContinuousClock.now
        let watch = StatusWatch(client: options.client, account: account, states: states)
        try await wait(watch)
        let names = states.map(\.rawValue)
        let waited = (ContinuousClock.now - start).components.seconds
        let answer = JSON.object(["states": .array(names.map(JSON.string)), "seconds": .integer(waited)])
        options.show(answer) { _ in "\(names.joined(separator: ", ")): yes, after \(Age(seconds: waited))" }
    }

    private func wait(_ watch: StatusWatch) async throws {
        defer { watch.endShowing() }
        let seconds = timeout
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run() }
            if let seconds {
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    throw WaitError.timeOver(seconds: seconds, reason: watch.reason)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

enum WaitError: Explained, Equatable {
    /// - Parameter reason: what was still missing.
    case timeOver(seconds: Int, reason: String)

    var explanation: Explanation {
        switch self {
        case .timeOver(let seconds, let reason):
            Explanation(
                "wait.time-over", .temporary, "not within \(seconds) s: \(reason)", remedy: "see: latchkey doctor",
                meaning: "the time that latchkey wait was given is up")
        }
    }

    static let examples: [WaitError] = [.timeOver(seconds: 30, reason: "REASON")]
}
