/// The meaning of a driver's number by the kernel's conventions: its SI unit, and how many of the driver's units make
/// one.
struct Quantity: Equatable {
    let unit: SenMLUnit
    let divisor: Double

    /// Documentation/hwmon/sysfs-interface.rst in the kernel's source.
    private static let hwmon: [String: Quantity] = [
        "temp": Quantity(unit: .celsius, divisor: 1000),
        "humidity": Quantity(unit: .relativeHumidity, divisor: 1000),
        "in": Quantity(unit: .volt, divisor: 1000),
        "curr": Quantity(unit: .ampere, divisor: 1000),
        "power": Quantity(unit: .watt, divisor: 1_000_000),
        "energy": Quantity(unit: .joule, divisor: 1_000_000),
        "fan": Quantity(unit: .perMinute, divisor: 1),
    ]

    /// Documentation/ABI/testing/sysfs-bus-iio in the kernel's source.
    private static let iio: [String: Quantity] = [
        "temp": Quantity(unit: .celsius, divisor: 1000),
        "humidityrelative": Quantity(unit: .relativeHumidity, divisor: 1000),
        "pressure": Quantity(unit: .hectopascal, divisor: 0.1),
        "voltage": Quantity(unit: .volt, divisor: 1000),
        "current": Quantity(unit: .ampere, divisor: 1000),
        "power": Quantity(unit: .watt, divisor: 1000),
        "illuminance": Quantity(unit: .lux, divisor: 1),
        "resistance": Quantity(unit: .ohm, divisor: 1),
        "distance": Quantity(unit: .metre, divisor: 1),
    ]

    static func hwmon(channel: String) -> Quantity? { hwmon[kind(of: channel)] }
    static func iio(channel: String) -> Quantity? { iio[kind(of: channel)] }

    /// The channel without its number: `temp` of `temp1`.
    static func kind(of channel: String) -> String {
        String(channel.prefix { !("0"..."9").contains($0) })
    }
}

extension SensorDefinition.Source {
    /// The default quantity of this source; `nil` for a channel that the kernel's conventions do not define.
    var quantity: Quantity? {
        switch self {
        case .hwmon(_, let channel, _): Quantity.hwmon(channel: channel)
        case .iio(_, let channel, _): Quantity.iio(channel: channel)
        case .thermal, .oneWire: Quantity(unit: .celsius, divisor: 1000)
        case .system(.load): Quantity(unit: .count, divisor: 1)
        case .system(.memoryAvailable), .system(.diskFree): Quantity(unit: .byte, divisor: 1)
        case .system(.uptime): Quantity(unit: .second, divisor: 1)
        }
    }
}
