/// A channel of an IIO device: which of the device's files hold its value, its scale and its offset, and in which unit
/// it is then.
///
/// A channel's name is its type, perhaps with a number, a modifier and a name that the driver gives it: `temp`,
/// `voltage0`, `accel_x`, `temp_object`, `concentration_co2`, `voltage8_vccint`. The difference between two inputs has
/// both of them, as `voltage0-voltage1` (Documentation/ABI/testing/sysfs-bus-iio in the kernel's source).
struct IIOChannel: Equatable {
    let name: String
    /// One of the kernel's types: `accel` of `accel_x`.
    let type: String
    private let isDifferential: Bool

    init(_ name: String) {
        self.name = name
        let type = name.prefix { ("a"..."z").contains($0) }
        let afterNumber = name[type.endIndex...].drop { ("0"..."9").contains($0) }
        isDifferential = afterNumber.hasPrefix("-\(type)")
        self.type = String(type)
    }

    /// The driver's number, unchanged.
    var rawFile: String { "in_\(name)_raw" }
    /// The value, if the driver itself scales it.
    var processedFile: String { "in_\(name)_input" }

    /// The files that may hold an attribute, such as `scale`, the closest one first: the channel's own, and those it
    /// shares with its type, with all inputs and with the whole device. What is shared has neither number nor modifier
    /// (`__iio_device_attr_init` in drivers/iio/industrialio-core.c).
    func files(of attribute: String) -> [String] {
        let shared = isDifferential ? "\(type)-\(type)" : type
        return ["in_\(name)_\(attribute)", "in_\(shared)_\(attribute)", "in_\(attribute)", attribute]
    }

    /// The channel of a file with a value: `accel_x` of `in_accel_x_raw`; `nil` for any other file.
    static func name(ofFile file: String) -> String? {
        guard file.hasPrefix("in_") else { return nil }
        for ending in ["_raw", "_input"] where file.hasSuffix(ending) {
            return String(file.dropFirst(3).dropLast(ending.count))
        }
        return nil
    }

    /// What its number means after scale and offset; `nil` for a type that has no unit of SenML, or is none of the
    /// kernel's.
    var quantity: Quantity? { Self.quantities[type] }

    /// Whether a raw number means something without a scale. The kernel has no unit for these types: their numbers
    /// count something, or are larger for more light or a closer object, and can only be compared with each other.
    var isUnitless: Bool { Self.unitless.contains(type) }

    private static let unitless: Set = ["count", "index", "intensity", "proximity", "steps"]

    private static let quantities: [String: Quantity] = [
        "accel": Quantity(unit: .metresPerSquareSecond, divisor: 1),
        "activity": Quantity(unit: .percent, divisor: 1),
        "altcurrent": Quantity(unit: .ampere, divisor: 1000),
        "altvoltage": Quantity(unit: .volt, divisor: 1000),
        "angl": Quantity(unit: .radian, divisor: 1),
        "anglvel": Quantity(unit: .radiansPerSecond, divisor: 1),
        "capacitance": Quantity(unit: .farad, divisor: 1e9),
        // The kernel's percent in parts per million, as drivers of carbon dioxide count.
        "concentration": Quantity(unit: .partsPerMillion, divisor: 1e-4),
        "count": Quantity(unit: .count, divisor: 1),
        "current": Quantity(unit: .ampere, divisor: 1000),
        "deltaangl": Quantity(unit: .radian, divisor: 1),
        "deltavelocity": Quantity(unit: .metresPerSecond, divisor: 1),
        "distance": Quantity(unit: .metre, divisor: 1),
        "electricalconductivity": Quantity(unit: .siemensPerMetre, divisor: 1),
        "energy": Quantity(unit: .joule, divisor: 1),
        "gravity": Quantity(unit: .metresPerSquareSecond, divisor: 1),
        "humidityrelative": Quantity(unit: .relativeHumidity, divisor: 1000),
        "illuminance": Quantity(unit: .lux, divisor: 1),
        "incli": Quantity(unit: .degree, divisor: 1),
        "index": Quantity(unit: .count, divisor: 1),
        "intensity": Quantity(unit: .count, divisor: 1),
        // The kernel's gauss.
        "magn": Quantity(unit: .tesla, divisor: 10_000),
        "massconcentration": Quantity(unit: .microgramsPerCubicMetre, divisor: 1),
        "ph": Quantity(unit: .acidity, divisor: 1),
        "phase": Quantity(unit: .radian, divisor: 1),
        "positionrelative": Quantity(unit: .percent, divisor: 1000),
        "power": Quantity(unit: .watt, divisor: 1000),
        // The kernel's kilopascal.
        "pressure": Quantity(unit: .hectopascal, divisor: 0.1),
        "proximity": Quantity(unit: .count, divisor: 1),
        "resistance": Quantity(unit: .ohm, divisor: 1),
        "steps": Quantity(unit: .count, divisor: 1),
        "temp": Quantity(unit: .celsius, divisor: 1000),
        "uvindex": Quantity(unit: .count, divisor: 1),
        "velocity": Quantity(unit: .metresPerSecond, divisor: 1),
        "voltage": Quantity(unit: .volt, divisor: 1000),
    ]
}
