import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

/// One action: gives the messages of its inbox to its command, one by one, in order.
///
/// A message is done when its command has ended with status 0. Otherwise the command gets it again, and after
/// `retries` it is set aside; until then those behind it wait.
package struct ActionWork {
    private let action: ActionSettings
    private let inboxes: InboxStore
    private let topics: TopicNamespace
    private let host: Host
    private let account: AccountName

    package init(
        _ action: ActionSettings, _ inboxes: InboxStore, _ topics: TopicNamespace, _ host: Host,
        _ account: AccountName
    ) {
        self.action = action
        self.inboxes = inboxes
        self.topics = topics
        self.host = host
        self.account = account
    }

    /// Runs until the broker session ends.
    package func run() async {
        // Before the first look, so that no arrival is missed.
        var arrivals = inboxes.arrivals.subscribe(bound: 64).makeAsyncIterator()
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
        var hasReported = false
        while !Task.isCancelled {
            do {
                guard try await !inboxes.page(of: action.name, limit: 1).isEmpty else {
                    guard await arrivals.next() != nil else { return }
                    continue
                }
                let isDone = try await runOne()
                hasReported = false
                if isDone { backoff.reset() } else { try await Task.sleep(for: backoff.next()) }
            } catch {
                guard !Task.isCancelled else { return }
                if !hasReported {
                    let reason = (error as? ActionCall.Fault)?.reason ?? Explanation(of: error).message
                    host.report(ActionEvent.unavailable(action: action.name, reason: reason), of: account)
                }
                hasReported = true
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    /// - Returns: whether the oldest message needs no other attempt.
    private func runOne() async throws -> Bool {
        // First: without a runner no attempt was made.
        let call = try ActionCall(action.socket)
        guard let kept = try await inboxes.begin(action.name) else { return true }
        let (attempt, began) = (kept.attempts + 1, host.time.now)
        let isAllowed = attempt <= action.retries + 1
        if isAllowed {
            host.report(
                ActionEvent.started(action: action.name, id: kept.id, topic: kept.message.topic, attempt: attempt),
                of: account)
        }
        let content = kept.message.content
        let request = ActionRequest(kept, attempt: attempt, of: action.name, topics: topics, content: content)
        let start = ContinuousClock.now
        killPoint("action-begun")
        let answer =
            isAllowed
            ? await call.exchange(
                request.head + content, patience: .seconds(action.timeoutSeconds) + Self.runnersShare)
            : Self.neverEnded.json.bytes
        if Task.isCancelled {
            // The broker session ended, and with it the command: that was not the message's fault.
            try await inboxes.withdraw(kept.id)
            throw CancellationError()
        }
        let outcome = ActionOutcome(parsing: answer) ?? .refused("the runner of actions broke off")
        killPoint("action-answered")
        let verdict: ActionVerdict = outcome.isSuccess ? .done : attempt > action.retries ? .dead : .again
        try await inboxes.finish(
            kept.id, of: action.name, verdict, began: began,
            report: ActionRun(
                kept: kept, attempt: attempt, began: began, time: ContinuousClock.now - start, outcome: outcome,
                verdict: verdict
            ).json.bytes)
        host.report(
            outcome.isSuccess
                ? ActionEvent.ended(action: action.name, id: kept.id)
                : .failed(action: action.name, id: kept.id, attempt: attempt, outcome, isDead: verdict == .dead),
            of: account)
        return verdict != .again
    }

    /// The reason given for a message if the agent ended during every attempt.
    private static let neverEnded = ActionOutcome.refused("the agent ended during each attempt with this message")

    /// The time that the runner has beyond the limit, to start and to end a command.
    private static let runnersShare = Duration.seconds(20)
}

extension ActionVerdict: AnswerValue {}

/// One run of an action's command, as the agent remembers it.
struct ActionRun: Answered {
    let kept: KeptMessage
    let attempt: Int
    let began: Date
    let time: Duration
    let outcome: ActionOutcome
    let verdict: ActionVerdict

    static let answer: Answer<ActionRun> = [
        "id": .of("number of the message") { $0.kept.id }, "topic": .of("the whole topic") { $0.kept.message.topic },
        "attempt": .of("number of the attempt with this message, from 1") { $0.attempt },
        "began": .of("when it was started") { $0.began },
        "milliseconds": .of("how long it ran") { $0.time.wholeMilliseconds },
        "status": .of("exit status, if it has one") { $0.outcome.status },
        "signal": .of("signal that ended it") { $0.outcome.signal },
        "timedOut": .of("whether it was ended at its time limit") { $0.outcome.timedOut },
        "refusal": .of("why it was not started") { $0.outcome.refusal },
        "output": .of("the end of its standard output and standard error") {
            String(decoding: $0.outcome.output, as: UTF8.self)
        },
        "omitted": .of("bytes of output before that") { $0.outcome.omitted },
        "verdict": .of("outcome for the message") { $0.verdict },
    ]
}
