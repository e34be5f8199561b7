/// The units readings are given in, by their names in the SenML registry (RFC 8428 section 12.1, RFC 8798).
public enum SenMLUnit: String, Sendable, CaseIterable {
    case celsius = "Cel"
    case relativeHumidity = "%RH"
    case hectopascal = "hPa"
    case pascal = "Pa"
    case volt = "V"
    case ampere = "A"
    case watt = "W"
    case joule = "J"
    case lux = "lx"
    case hertz = "Hz"
    case metre = "m"
    case metresPerSecond = "m/s"
    case metresPerSquareSecond = "m/s2"
    case radian = "rad"
    case degree = "deg"
    case radiansPerSecond = "rad/s"
    case tesla = "T"
    case ohm = "Ohm"
    case farad = "F"
    case siemensPerMetre = "S/m"
    case perMinute = "1/min"
    case partsPerMillion = "ppm"
    case microgramsPerCubicMetre = "ug/m3"
    case acidity = "pH"
    /// Signal strength, in decibels relative to a milliwatt.
    case decibelMilliwatts = "dBm"
    case byte = "B"
    case second = "s"
    /// Part of a whole, 0 to 1.
    case ratio = "/"
    /// Part of a whole, 0 to 100.
    case percent = "%"
    /// A plain number.
    case count = "count"

    /// The range that a working sensor can measure; a value outside is of uncertain quality.
    var plausible: ClosedRange<Double> {
        switch self {
        case .celsius: -273.15...10_000
        case .relativeHumidity: 0...100
        default: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        }
    }

    /// Values are rounded to a multiple of one over this: further digits are arithmetic noise.
    var stepsPerUnit: Double {
        switch self {
        case .volt, .ampere, .siemensPerMetre: 1e9
        case .tesla: 1e12
        case .farad: 1e15
        default: 1e6
        }
    }
}
