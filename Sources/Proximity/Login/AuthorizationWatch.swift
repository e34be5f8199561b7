import Groundwork

/// Waits for another device to authorize this one: polls the gateway at the planned times, and at once when the other
/// device reports success.
struct AuthorizationWatch: Sendable {
    typealias Login = @Sendable () async throws -> String

    private enum Step: Sendable {
        case due
        case answered(String)
        /// The other device left; the gateway may still report an authorization.
        case left
        /// All planned polls are done.
        case planOver
        case timeOver
    }

    let pending: PendingAuthorization
    let plan: PollingPlan
    let clock: any ProximityClock
    let events: Broadcast<ProximityEvent>

    /// - Parameters:
    ///   - answers: the other device's answers, as text; `nil` if it cannot answer.
    ///   - deadline: the latest time to give up.
    /// - Returns: a closure that spends the authorization code.
    /// - Throws: ``ProximityError``, `CancellationError`
    func wait(answers: AsyncStream<String>? = nil, until deadline: Duration) async throws -> Login {
        let (steps, feed) = AsyncStream.makeStream(of: Step.self, bufferingPolicy: .bufferingOldest(64))
        let times = plan.times(from: clock.now)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [clock] in
                for time in times where time < deadline {
                    guard (try? await clock.sleep(until: time)) != nil else { return }
                    feed.yield(.due)
                }
                feed.yield(.planOver)
                if (try? await clock.sleep(until: deadline)) != nil { feed.yield(.timeOver) }
            }
            if let answers {
                group.addTask {
                    for await answer in answers { feed.yield(.answered(answer)) }
                    feed.yield(.left)
                }
            }
            var canAnswer = answers != nil
            var isPlanOver = false
            var isToldSo = false
            var attempts = 0
            var failure: ProximityError?
            for await step in steps {
                switch step {
                case .due, .answered("0"):
                    if case .answered = step {
                        // Only once: a device that repeats its answer must not cause repeated polls.
                        guard !isToldSo else { continue }
                        isToldSo = true
                    }
                    attempts += 1
                    do {
                        if case .authorized(let logIn) = try await pending.poll() { return logIn }
                        failure = nil
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        failure = .pollingFailed(reason: error.reason)
                    }
                    events.send(.polled(attempt: attempts, of: max(times.count, attempts)))
                case .answered("2"): throw ProximityError.userDeclined(by: "the other device")
                case .answered(let text): throw ProximityError.authorizationFailed(answer: DisplayText.clean(text))
                case .left: canAnswer = false
                case .planOver: isPlanOver = true
                case .timeOver: (canAnswer, isPlanOver) = (false, true)
                }
                // A device that is still connected may answer later, because a person is being asked.
                if isPlanOver, !canAnswer { throw failure ?? ProximityError.notAuthorizedInTime }
            }
            throw CancellationError()
        }
    }
}
