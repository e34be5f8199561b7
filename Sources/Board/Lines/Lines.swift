/// Changes of an input since they were last taken.
public struct EdgeBurst: Sendable, Equatable {
    /// Times of the first and the newest change, on the scale of ``SteadyClock``.
    public let first: Duration
    public let newest: Duration

    public init(first: Duration, newest: Duration) {
        self.first = first
        self.newest = newest
    }
}

/// A line that is watched, such as a button's. Levels are logical: active means pressed.
public protocol InputLine: Sendable {
    /// Suspends until there are changes to take, or the task is cancelled. One task at a time may wait.
    func waitForEdge() async
    /// The changes since the last call, never waiting for one.
    func takeEdges() throws(BoardError) -> EdgeBurst?
    func isActive() throws(BoardError) -> Bool
}

/// A line that is driven, such as an LED's. Levels are logical: active means lit.
public protocol OutputLine: Sendable {
    func set(active: Bool) throws(BoardError)
}
