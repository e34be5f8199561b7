import AgentCore
import Board
import Groundwork
import LocalAPI
import Synchronization

/// What became of an enrollment that waited for the agent, for the status, the doctor and the LED.
struct FirstBootProgress: Answered, Equatable {
    enum Stage: String, CaseIterable, AnswerValue {
        /// The gateway is being asked, or will be asked again.
        case trying
        /// It can never be used.
        case refused
        case taken
        case notWiped = "not-wiped"
        /// It is there, and is not used.
        case notUsed = "not-used"
        /// A code may be scanned.
        case scanning

        /// What the board's LED shows of it. Single flashes: it waits for its gateway, or the scanner for a code; four:
        /// it was refused.
        var pattern: LEDPattern? {
            switch self {
            case .trying, .scanning: .flashing(times: 1, pause: .seconds(2))
            case .refused: .flashing(times: 4, pause: .seconds(2))
            case .taken, .notWiped, .notUsed: nil
            }
        }
    }

    var stage: Stage
    var place: String
    /// The members that explain what is wrong, if anything is.
    var problem: [String: JSON]?

    static let answer: Answer<FirstBootProgress> = [
        "state": .of("its outcome") { $0.stage },
        "place": .of("where it waited: a path, the credential or the scanner") { $0.place },
        "error": .schema(.problem) { $0.problem },
    ]
}

/// The progress now; nothing until an enrollment is found.
///
/// A file's enrollment and a scanned one are tried at the same time: what becomes of the one does not hide that the
/// other is still being tried.
final class FirstBootState: Sendable {
    private struct State {
        /// The attempts under way, the newest last; at most one for each place.
        var attempts: [FirstBootProgress] = []
        /// What is shown while there is none.
        var settled: FirstBootProgress?
    }
    private let state = Mutex(State())
    private let onChange: @Sendable (FirstBootProgress?) -> Void

    /// - Parameter onChange: called after each change.
    init(onChange: @escaping @Sendable (FirstBootProgress?) -> Void) { self.onChange = onChange }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        onChange(now)
    }

    var now: FirstBootProgress? { state.withLock { $0.attempts.last ?? $0.settled } }

    /// Shows an attempt until it is settled or ends.
    func attempt(_ progress: FirstBootProgress) {
        change { state in
            if let index = state.attempts.firstIndex(where: { $0.place == progress.place }) {
                state.attempts[index] = progress
            } else {
                state.attempts.append(progress)
            }
        }
    }

    /// Ends the attempt for a place, if there is one.
    func endAttempt(for place: String) { change { $0.attempts.removeAll { $0.place == place } } }

    /// Shows an outcome, which ends the attempt for its place. An enrollment that is taken ends all attempts.
    func settle(_ outcome: FirstBootProgress) {
        change { state in
            state.attempts.removeAll { outcome.stage == .taken || $0.place == outcome.place }
            state.settled = outcome
        }
    }

    /// Shows what is not the outcome of an attempt, unless one is under way.
    func note(_ progress: FirstBootProgress) {
        change { state in
            if state.attempts.isEmpty { state.settled = progress }
        }
    }
}
