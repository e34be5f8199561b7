/// Tells presses from bounces: a level counts once the line has rested for the debounce time.
///
/// A press is dated by its first edge, so that debouncing delays the news but does not shift the time.
struct Debouncer {
    private let rest: Duration
    private var isActive: Bool
    /// When the press began; of one that was there from the start, when that was.
    private var pressedAt: Duration?
    private var burst: EdgeBurst?

    /// - Parameters:
    ///   - isActive: the level at the start. It is no press: a stuck button is no consent.
    ///   - now: the start.
    init(rest: Duration, isActive: Bool, at now: Duration) {
        self.rest = rest
        self.isActive = isActive
        pressedAt = isActive ? now : nil
    }

    /// When the line will have rested long enough, unless it moves before; `nil` while nothing moves.
    var deadline: Duration? { burst.map { $0.newest + rest } }

    mutating func moved(_ edges: EdgeBurst) {
        burst = EdgeBurst(first: burst?.first ?? edges.first, newest: edges.newest)
    }

    /// Called at the deadline with the level read then: edges may have been lost, a level is not.
    mutating func rested(isActive level: Bool) -> ButtonEvent? {
        guard let edges = burst else { return nil }
        burst = nil
        guard level != isActive else { return nil }
        isActive = level
        if level {
            pressedAt = edges.first
            return .pressed(at: edges.first)
        }
        defer { pressedAt = nil }
        return pressedAt.map { .released(at: edges.first, held: edges.first - $0) }
    }
}
