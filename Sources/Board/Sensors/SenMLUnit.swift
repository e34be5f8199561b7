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
    case metresPerSquareSecond = "m/s2"
    case radiansPerSecond = "rad/s"
    case tesla = "T"
    case ohm = "Ohm"
    case perMinute = "1/min"
    case partsPerMillion = "ppm"
    case byte = "B"
    case second = "s"
    /// Part of a whole, 0 to 1.
    case ratio = "/"
    case count = "count"

    /// The range that a working sensor can measure; a value outside is of uncertain quality.
    var plausible: ClosedRange<Double> {
        switch self {
        case .celsius: -273.15...10_000
        case .relativeHumidity: 0...100
        default: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        }
    }
}
