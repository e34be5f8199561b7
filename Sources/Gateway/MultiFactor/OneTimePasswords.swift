import FoundationEssentials
import Groundwork
import HTTPClient
import Synchronization

/// Answers demands for one-time passwords: a person chooses how the password is sent, the gateway sends it, the person
/// types it, and the call is sent again with it (MAG 6.6, checklist 30).
///
/// Calls of one session take turns, so that no user is asked for two passwords at once and no delivery makes an earlier
/// password worthless. A call that has waited for its turn is first sent again without a password, because a gateway
/// may take one password for a whole session; an earlier password is never sent with another call, because one that
/// counts only once would count as wrong, and three wrong ones bar the user.
final class OneTimePasswords: MultiFactorHandler {
    /// The maximum number of passwords that are sent for one call.
    private static let deliveries = 4
    /// The longest password, in bytes.
    private static let lengthLimit = 64
    /// How many targets are remembered that demanded a password, and how many users that are barred.
    private static let memory = 32

    private struct Bar {
        let end: Duration
        let error: MultiFactorError
    }

    private struct State {
        /// When a call last got through with a password.
        var lastPassed: Duration?
        var lastTurn = 0
        /// By user.
        var bars: [String: Bar] = [:]
        /// What demanded a password, the oldest first.
        var demanding: [String] = []
    }

    /// What asks for calls that bring no asker of their own; `nil` if nothing does.
    private let asker: (any OneTimePasswordAsker)?
    /// Where passwords are ordered.
    private let path: String
    private let clocks: SessionClocks
    private let turns = SingleFlight<Int>()
    private let state = Mutex(State())

    init(asker: (any OneTimePasswordAsker)?, path: String, clocks: SessionClocks) {
        (self.asker, self.path, self.clocks) = (asker, path, clocks)
    }

    func close() async { await turns.close() }

    /// Refuses a call of a user who is barred, if it is known to demand a password: the gateway is not asked meanwhile.
    func admit(_ call: ChallengedCall) throws {
        guard asker(of: call) != nil else { return }
        let error = state.withLock { state in state.demanding.contains(call.target) ? bar(of: call, state) : nil }
        if let error { throw error }
    }

    func complete(
        _ call: ChallengedCall, after answer: HTTPResponse, repeating repetition: @escaping Repetition
    ) async throws -> CallAnswer? {
        guard let challenge = OneTimePasswordChallenge(answer), let asker = asker(of: call) else { return nil }
        let turn = state.withLock { state in
            state.demanding.removeAll { $0 == call.target }
            state.demanding.append(call.target)
            if state.demanding.count > Self.memory { state.demanding.removeFirst() }
            state.lastTurn += 1
            return state.lastTurn
        }
        let order = Order(call: call, asker: asker, repetition: repetition)
        let outcome = Outcome()
        try await turns.join(turn) { _ in
            outcome.answer = try await self.settle(order, challenge)
        }
        return outcome.answer
    }

    /// A call whose program sends passwords itself is left alone.
    private func asker(of call: ChallengedCall) -> (any OneTimePasswordAsker)? {
        guard call.call.headers.first(OneTimePasswordChallenge.passwordField) == nil else { return nil }
        return call.call.passwordAsker ?? asker
    }

    // MARK: One call at a time

    private struct Order: Sendable {
        let call: ChallengedCall
        let asker: any OneTimePasswordAsker
        let repetition: Repetition
    }

    private func settle(_ order: Order, _ first: OneTimePasswordChallenge) async throws -> CallAnswer {
        var challenge = first
        // The demand may be older than a password that the gateway takes for the whole session.
        if let passed = state.withLock({ $0.lastPassed }), passed >= order.call.begun {
            let again = try await order.repetition([:])
            guard let next = again.response.flatMap(OneTimePasswordChallenge.init) else { return again }
            challenge = next
        }
        var channels = challenge.channels
        for _ in 0..<Self.deliveries {
            try refuseIfBarred(order.call, challenge)
            if !challenge.channels.isEmpty { channels = challenge.channels }
            let channel = try await channel(of: channels, order, isRepeated: challenge.kind == .expired)
            try await deliver(by: channel, order.call)
            switch try await password(order, sentBy: channel) {
            case .success(let answer):
                state.withLock { $0.lastPassed = clocks.uptime() }
                return answer
            case .failure(let next): challenge = next.challenge
            }
        }
        try refuseIfBarred(order.call, challenge)
        throw challenge.kind == .expired ? MultiFactorError.expired : .wrong
    }

    /// - Returns: `nil` if the gateway names no channel.
    private func channel(of channels: [String], _ order: Order, isRepeated: Bool) async throws -> String? {
        guard channels.count > 1 || isRepeated else { return channels.first }
        var choices = channels
        if channels.count > 1 { choices.append(channels.joined(separator: ",")) }
        if channels.isEmpty { choices = ["another"] }
        do {
            let choice = try await order.asker.channel(of: choices, for: order.call, isRepeated: isRepeated)
            return channels.isEmpty ? nil : choice
        } catch MultiFactorError.channelCancelled where isRepeated {
            throw MultiFactorError.expired
        }
    }

    private func deliver(by channel: String?, _ call: ChallengedCall) async throws {
        var delivery = APICall("GET", path)
        if let channel { delivery.headers.set(OneTimePasswordChallenge.channelField, channel) }
        let answer = try await call.send(delivery)
        guard !answer.isSuccess else {
            guard answer.headers.first(OneTimePasswordChallenge.passwordField)?.lowercased() == "generated" else {
                throw MultiFactorError.notDelivered(
                    status: answer.status, caError: nil, reason: "the answer does not say that one was sent")
            }
            return
        }
        if let challenge = OneTimePasswordChallenge(answer) { try refuseIfBarred(call, challenge) }
        let refusal = Refusal(answer, to: .call)
        throw MultiFactorError.notDelivered(
            status: answer.status, caError: refusal?.code,
            reason: refusal?.text ?? refusal?.oauthError ?? "no reason given")
    }

    /// Another demand in place of an answer.
    private struct Demanded: Error { let challenge: OneTimePasswordChallenge }

    private func password(_ order: Order, sentBy channel: String?) async throws -> Result<CallAnswer, Demanded> {
        let (outcome, demand) = (Outcome(), Demand())
        try await order.asker.password(for: order.call, sentBy: channel) { text in
            let password = text.trimmed
            // What cannot be one is not sent: it would count at the gateway.
            guard password.utf8.count <= Self.lengthLimit, HTTPHeaders.isPlainValue(password) else {
                return .wrong(attemptsLeft: nil)
            }
            var headers: HTTPHeaders = [OneTimePasswordChallenge.passwordField: password]
            if let channel { headers.set(OneTimePasswordChallenge.channelField, channel) }
            let answer = try await order.repetition(headers)
            guard let next = answer.response.flatMap(OneTimePasswordChallenge.init) else {
                outcome.answer = answer
                return .settled
            }
            if next.kind == .wrong, next.attemptsLeft != 0 { return .wrong(attemptsLeft: next.attemptsLeft) }
            demand.challenge = next
            return .settled
        }
        if let answer = outcome.answer { return .success(answer) }
        guard let challenge = demand.challenge else { throw MultiFactorError.wrong }
        guard challenge.kind != .wrong else { throw MultiFactorError.wrong }
        return .failure(Demanded(challenge: challenge))
    }

    // MARK: Barred users

    private func refuseIfBarred(_ call: ChallengedCall, _ challenge: OneTimePasswordChallenge) throws {
        let isBarred = challenge.kind == .barred
        guard isBarred || challenge.kind == .limitExceeded else {
            if let error = state.withLock({ bar(of: call, $0) }) { throw error }
            return
        }
        let seconds = challenge.retryAfter
        let until = seconds.map { (clocks.date() + TimeInterval($0)).formatted(.iso8601) }
        let error: MultiFactorError = isBarred ? .barred(until: until) : .limitExceeded(until: until)
        if let seconds {
            let now = clocks.uptime()
            state.withLock { state in
                state.bars = state.bars.filter { $0.value.end > now }
                guard state.bars.count < Self.memory else { return }
                state.bars[Self.owner(of: call)] = Bar(end: now + .seconds(seconds), error: error)
            }
        }
        throw error
    }

    private func bar(of call: ChallengedCall, _ state: State) -> MultiFactorError? {
        guard let bar = state.bars[Self.owner(of: call)], bar.end > clocks.uptime() else { return nil }
        return bar.error
    }

    private static func owner(of call: ChallengedCall) -> String {
        call.userName.map { "user \($0)" } ?? call.call.principal.rawValue
    }
}

/// What came of a call, set by the one task that makes it.
private final class Outcome: Sendable {
    private let value = Mutex<CallAnswer?>(nil)

    var answer: CallAnswer? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

private final class Demand: Sendable {
    private let value = Mutex<OneTimePasswordChallenge?>(nil)

    var challenge: OneTimePasswordChallenge? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
