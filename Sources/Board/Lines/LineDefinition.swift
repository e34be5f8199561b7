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
        /// A line of the GPIO chip with this label, or of the device at this path. Both stay what they are where a
        /// chip's number changes with the kernel.
        case gpio(chip: String, line: LineSelector)
        /// A key of the first of these input devices that is there, such as `gpio-keys`; without a code any key but
        /// those that end or suspend the machine.
        case input(devices: [String], key: UInt16?)
        /// The first LED of these names that is there, by the kernel's LED class.
        case ledClass(names: [String])
        /// No hardware: the agent simulates the part.
        case simulated
    }

    public enum ActiveLevel: String, Sendable, CaseIterable {
        case low, high
    }

    public let place: Place
    public let active: ActiveLevel
    public let bias: LineBias
    /// How long a button has to rest before its level counts. The agent debounces itself, so that every version of
    /// libgpiod behaves alike: version 1 cannot request it from the kernel.
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
