/// The parts of a board and where they are: one file of `Boards/`.
public struct BoardDefinition: Sendable, Equatable {
    /// The name of its file without `.toml`.
    public let name: String
    /// The board's name for people.
    public let title: String
    /// Prefixes of the device tree's model by which the board is recognized; empty if the board has to be named in
    /// the settings.
    public let models: [String]
    public let button: LineDefinition?
    public let led: LineDefinition?
    public internal(set) var sensors: [SensorDefinition]

    public init(
        name: String, title: String, models: [String] = [], button: LineDefinition? = nil, led: LineDefinition? = nil,
        sensors: [SensorDefinition] = []
    ) {
        self.name = name
        self.title = title
        self.models = models
        self.button = button
        self.led = led
        self.sensors = sensors
    }

    /// Adds sensors, except where the definition has one of the same name.
    public mutating func add(_ others: [SensorDefinition]) {
        sensors += others.filter { other in !sensors.contains { $0.name == other.name } }
    }
}
