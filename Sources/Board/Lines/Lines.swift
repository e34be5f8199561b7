/// A change of an input's level.
public struct LineEdge: Sendable, Equatable {
    /// When it happened, on the scale of ``SteadyClock``; for a GPIO line the kernel's time stamp.
    public let time: Duration
    /// The level from then on.
    public let isActive: Bool

    public init(time: Duration, isActive: Bool) {
        self.time = time
        self.isActive = isActive
    }
}

/// Changes of an input since they were last taken.
public struct LineEdges: Sendable, Equatable {
    /// The oldest first; at least one.
    public let edges: [LineEdge]
    /// The time until which changes may be missing from `edges`; `nil` if none is.
    public let lostUntil: Duration?

    public init(_ edges: [LineEdge], lostUntil: Duration? = nil) {
        self.edges = edges
        self.lostUntil = lostUntil
    }
}

/// A line that is watched, such as a button's. Levels are logical: active means pressed.
public protocol InputLine: Sendable {
    /// Suspends until there are changes to take, or the task is canceled. One task at a time may wait.
    func waitForEdge() async
    /// The changes since the last call, without blocking; `nil` if there are none.
    func takeEdges() throws(BoardError) -> LineEdges?
    func isActive() throws(BoardError) -> Bool
}

/// A line that is driven, such as an LED's. Levels are logical: active means lit.
public protocol OutputLine: Sendable {
    func set(active: Bool) throws(BoardError)
}

extension LineDefinition {
    /// Takes hold of the line.
    func open(
        isOutput: Bool, on machine: Machine, simulated: @autoclosure () -> SimulatedLine
    ) throws(BoardError) -> any InputLine & OutputLine {
        switch place {
        case .simulated: simulated()
        case .gpio(let chip, let line): try GPIOLine(chip: chip, line: line, of: self, isOutput: isOutput, on: machine)
        }
    }
}
