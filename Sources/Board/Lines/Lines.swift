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
    /// Takes hold of the line of a button.
    func openInput(
        on machine: Machine, simulated: @autoclosure () -> SimulatedLine
    ) throws(BoardError) -> any InputLine {
        switch place {
        case .simulated: return simulated()
        case .gpio(let chip, let line):
            return try GPIOLine(chip: chip, line: line, of: self, isOutput: false, on: machine)
        case .input(let devices, let key): return try KeyLine(devices: devices, key: key, on: machine)
        case .ledClass(let names): throw .partAbsent(.input, names: names)
        }
    }

    /// Takes hold of the line of an LED.
    func openOutput(
        on machine: Machine, simulated: @autoclosure () -> SimulatedLine
    ) throws(BoardError) -> any OutputLine {
        switch place {
        case .simulated: return simulated()
        case .gpio(let chip, let line):
            return try GPIOLine(chip: chip, line: line, of: self, isOutput: true, on: machine)
        case .ledClass(let names): return try ClassLED(names: names, on: machine)
        case .input(let devices, _): throw .partAbsent(.led, names: devices)
        }
    }
}
