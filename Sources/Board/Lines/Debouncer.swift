/// Separates presses from bounces: a level counts once the line has rested for the debounce time.
///
/// A press is dated by its first edge. Whether the line rested is read from the times of the edges too: however late
/// they are handled, what they mean is the same.
struct Debouncer {
    private struct Movement {
        let first: Duration
        var newest: Duration
        /// The level after the newest edge.
        var isActive: Bool
    }

    private let rest: Duration
    private var isActive: Bool
    /// When the press began, or when watching began if the button was already down.
    private var pressedAt: Duration?
    private var movement: Movement?

    /// - Parameters:
    ///   - isActive: the level at the start. It is not a press: a stuck button must not give consent.
    ///   - now: the start.
    init(rest: Duration, isActive: Bool, at now: Duration) {
        self.rest = rest
        self.isActive = isActive
        pressedAt = isActive ? now : nil
    }

    /// When the line will have rested long enough, unless it moves before; `nil` while nothing moves.
    var deadline: Duration? { movement.map { $0.newest + rest } }

    /// - Returns: what happened before the newest edge.
    mutating func handleEdges(_ changes: LineEdges) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        for edge in changes.edges {
            // If edges were lost, a pause between two received ones is not a rest.
            if changes.lostUntil == nil, let movement, edge.time - movement.newest >= rest {
                events += handleRest(isActive: movement.isActive)
            }
            movement = Movement(first: movement?.first ?? edge.time, newest: edge.time, isActive: edge.isActive)
        }
        if let end = changes.lostUntil { movement?.newest = end }
        return events
    }

    /// Called at the deadline with the level read then: edges may have been lost, a level is not.
    ///
    /// - Returns: one event, or none if the line is back at its former level.
    mutating func handleRest(isActive level: Bool) -> [ButtonEvent] {
        guard let begin = movement?.first else { return [] }
        movement = nil
        guard level != isActive else { return [] }
        isActive = level
        if level {
            pressedAt = begin
            return [.pressed(at: begin)]
        }
        defer { pressedAt = nil }
        return pressedAt.map { [.released(at: begin, held: begin - $0)] } ?? []
    }
}
