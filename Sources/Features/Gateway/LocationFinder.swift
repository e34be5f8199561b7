import AgentCore
import Board
import Gateway
import Groundwork

/// Finds out where the board is, as the settings say: it is fixed, or gpsd knows.
///
/// gpsd is asked only when a location is needed. What it said is used for a while, and forgotten then.
package actor LocationFinder {
    package enum Source: String, Sendable, CaseIterable {
        /// The location of the board is not disclosed.
        case off = "none"
        /// The settings say where it is.
        case fixed
        case gpsd
    }

    package struct Found: Sendable {
        package let location: Location
        /// How long ago it was found; `nil` if the settings say it.
        package let age: Duration?
    }

    /// How long a call waits that could do without a location.
    private static let briefly = Duration.seconds(2)
    /// After a failure, for how long calls that could do without a location do not wait for one.
    private static let rest = Duration.seconds(60)

    package nonisolated let source: Source
    private let fixed: Location?
    private let receiver: Receiver?
    private let maxAge: Duration
    private let patience: Duration
    private var latest: (location: Location, at: ContinuousClock.Instant)?
    private var failedAt: ContinuousClock.Instant?
    /// The question to the receiver that is under way, which all that need a location share.
    private var question: Question?

    /// A source of the location.
    package struct Receiver: Sendable {
        /// As errors name it.
        package let name: String
        /// The first location within the given time; `nil` if it is not a place on Earth.
        package let locate: @Sendable (Duration) async throws -> Location?
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    }

    /// A question with the full patience, no matter who asked it first; those who wait for its answer have limits of
    /// their own. With the last of them it is given up: a receiver may be switched on while it is asked.
    private final class Question: Sendable {
        private struct State {
            var task: Task<Void, Never>?
            var answer: Result<Location, any Error>?
            var callers = 0
            /// Those who no longer wait, by number.
            var gone: Set<Int> = []
            var last = 0
        }
        private let state = AsyncCondition(State())

        func begin(_ task: Task<Void, Never>) { state.change { $0.task = task } }
        func end(with answer: Result<Location, any Error>) { state.change { $0.answer = answer } }

        /// - Returns: whether no caller waits for it any more; then it is canceled.
        func giveUpIfUnwanted() -> Bool {
            let (isUnwanted, task) = state.read { ($0.callers == 0, $0.task) }
            if isUnwanted { task?.cancel() }
            return isUnwanted
        }

        /// - Returns: `nil` if there is no answer within the limit, or in a canceled task.
        func answer(within limit: Duration, of receiver: Receiver) async -> Result<Location, any Error>? {
            let number = state.change { state in
                state.last += 1
                state.callers += 1
                return state.last
            }
            defer { state.change { $0.callers -= 1 } }
            let timer = Task {
                try? await receiver.sleep(limit)
                leave(number)
            }
            defer { timer.cancel() }
            return await withTaskCancellationHandler {
                await state.wait { state -> Result<Location, any Error>?? in
                    if let answer = state.answer { return .some(answer) }
                    return state.gone.contains(number) ? .some(nil) : nil
                }
            } onCancel: {
                leave(number)
            }
        }

        private func leave(_ number: Int) { state.change { _ = $0.gone.insert(number) } }
    }

    package init(_ configuration: AgentConfiguration, asking receiver: Receiver? = nil) {
        source = Source(rawValue: configuration[LocationSettings.self].source) ?? .off
        fixed = Location(
            latitude: configuration[LocationSettings.self].latitude,
            longitude: configuration[LocationSettings.self].longitude)
        self.receiver = receiver ?? GPSDAddress(configuration[LocationSettings.self].gpsd).map(Receiver.init)
        maxAge = .seconds(configuration[LocationSettings.self].maxAgeSeconds)
        patience = .seconds(configuration[LocationSettings.self].waitSeconds)
    }

    /// What calls may say of the board.
    package nonisolated func geolocation(telephoneNumber: String) -> Geolocation {
        var geolocation = Geolocation(telephoneNumber: telephoneNumber.isEmpty ? nil : telephoneNumber)
        if source != .off { geolocation.locate = { isDemanded in await self.locate(isDemanded: isDemanded) } }
        return geolocation
    }

    private func locate(isDemanded: Bool) async -> Location? {
        if !isDemanded, known == nil, let failedAt, failedAt.duration(to: .now) < Self.rest { return nil }
        return try? await find(within: isDemanded ? patience : Self.briefly).location
    }

    /// Where the board is, if that is known without asking anybody.
    package var known: Found? {
        switch source {
        case .off: return nil
        case .fixed: return fixed.map { Found(location: $0, age: nil) }
        case .gpsd:
            guard let latest else { return nil }
            let age = latest.at.duration(to: .now)
            guard age < maxAge else {
                self.latest = nil
                return nil
            }
            return Found(location: latest.location, age: age)
        }
    }

    /// - Parameter limit: how long to wait for it; without it, as long as the settings say.
    /// - Throws: `GatewayError.locationUnavailable`, ``BoardError``, `CancellationError`
    package func find(within limit: Duration? = nil) async throws -> Found {
        if let known { return known }
        guard let receiver, source == .gpsd else { throw GatewayError.locationUnavailable(.off) }
        let (limit, begin) = (limit ?? patience, ContinuousClock.now)
        var answer: Result<Location, any Error>?
        if let question {
            answer = await wait(for: question, within: limit, receiver)
            // Asked earlier, it may have been given up early.
            if case .failure = answer {
                let left = limit - begin.duration(to: .now)
                answer = await wait(for: self.question ?? ask(receiver), within: left, receiver)
            }
        } else {
            answer = await wait(for: ask(receiver), within: limit, receiver)
        }
        try Task.checkCancellation()
        switch answer {
        case .success(let location): return Found(location: location, age: .zero)
        case .failure(let error): throw error
        case nil:
            failedAt = .now
            throw BoardError.noFix(address: receiver.name)
        }
    }

    private func wait(
        for question: Question, within limit: Duration, _ receiver: Receiver
    ) async -> Result<Location, any Error>? {
        let answer = await question.answer(within: limit, of: receiver)
        if self.question === question, question.giveUpIfUnwanted() { self.question = nil }
        return answer
    }

    private func ask(_ receiver: Receiver) -> Question {
        let question = Question()
        self.question = question
        let task = Task { [patience] in
            do {
                guard let location = try await receiver.locate(patience) else {
                    throw GatewayError.locationUnavailable(.noFix)
                }
                (latest, failedAt) = ((location, .now), nil)
                close(question, with: .success(location))
            } catch {
                failedAt = .now
                close(question, with: .failure(error))
            }
        }
        question.begin(task)
        return question
    }

    private func close(_ question: Question, with answer: Result<Location, any Error>) {
        if self.question === question { self.question = nil }
        question.end(with: answer)
    }
}

extension LocationFinder.Receiver {
    fileprivate init(_ address: GPSDAddress) {
        let client = GPSDClient(address)
        self.init(
            name: address.description,
            locate: { limit in
                let fix = try await client.fix(within: limit)
                return Location(latitude: fix.latitude, longitude: fix.longitude)
            })
    }
}
