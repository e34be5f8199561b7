/// Which line of a chip, as `gpioinfo` shows it.
public enum LineSelector: Sendable, Equatable, CustomStringConvertible {
    /// The number within the chip, from 0.
    case offset(UInt32)
    /// The name the device tree gives it, such as `GPIO17`.
    case name(String)

    public var description: String {
        switch self {
        case .offset(let offset): String(offset)
        case .name(let name): name
        }
    }
}

/// The resistor that holds a line while nothing drives it.
public enum LineBias: String, Sendable, CaseIterable {
    /// As the firmware left it.
    case asIs = "as-is"
    case disabled
    case pullUp = "pull-up"
    case pullDown = "pull-down"
}

/// A button or an LED of a board.
public struct LineDefinition: Sendable, Equatable {
    public enum Place: Sendable, Equatable {
        /// A line of the GPIO chip with this label. A label stays what it is where a chip's number changes with the
        /// kernel.
        case gpio(chip: String, line: LineSelector)
        /// No hardware: the agent plays the part itself.
        case simulated
    }

    public enum ActiveLevel: String, Sendable, CaseIterable {
        case low, high
    }

    public let place: Place
    public let active: ActiveLevel
    public let bias: LineBias
    /// How long a button has to rest before its level counts. Done by the agent, alike with every version of libgpiod:
    /// version 1 cannot ask the kernel for it.
    public let debounce: Duration

    public init(
        place: Place, active: ActiveLevel = .high, bias: LineBias = .asIs, debounce: Duration = .milliseconds(20)
    ) {
        self.place = place
        self.active = active
        self.bias = bias
        self.debounce = debounce
    }
}
