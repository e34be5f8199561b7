/// What a board has and where: one file of `Boards/`.
public struct BoardDefinition: Sendable, Equatable {
    /// The name of its file without `.toml`.
    public let name: String
    /// For people.
    public let title: String
    /// Beginnings of the device tree's model by which the board is recognized; empty when it has to be named.
    public let models: [String]
    public let button: LineDefinition?
    public let led: LineDefinition?
    public let sensors: [SensorDefinition]

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
}
