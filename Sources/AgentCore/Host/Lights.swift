import Board
import Groundwork
import Synchronization

/// What the board's LED shows: of all that features have to show, that with the highest priority.
package final class Lights: Sendable {
    package enum Priority: Int, Comparable, Sendable {
        /// What becomes of an enrollment that waits for the agent.
        case enrollment
        case connection
        /// What a program at the broker has asked for, while the board is connected.
        case command
        /// A question that waits for consent, and its answer.
        case consent

        package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    private let shown = Mutex<[Priority: LEDPattern]>([:])
    /// Sent after each change.
    package let changes = Broadcast<Void>()

    /// - Parameter pattern: `nil` if there is nothing to show.
    package func show(_ pattern: LEDPattern?, _ priority: Priority) {
        let isChanged = shown.withLock { shown in
            defer { shown[priority] = pattern }
            return shown[priority] != pattern
        }
        if isChanged { changes.send(()) }
    }

    package var pattern: LEDPattern { shown.withLock { $0.max { $0.key < $1.key }?.value ?? .off } }
}
