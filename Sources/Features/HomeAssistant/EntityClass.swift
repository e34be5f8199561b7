import Board

/// What Home Assistant calls a unit, and which of its device classes allows that unit.
struct EntityClass: Equatable {
    /// `nil` for a number without a unit.
    let unit: String?
    let deviceClass: String?

    private init(_ unit: String?, _ deviceClass: String? = nil) { (self.unit, self.deviceClass) = (unit, deviceClass) }

    init(of unit: SenMLUnit) {
        self =
            switch unit {
            case .celsius: EntityClass("°C", "temperature")
            case .relativeHumidity: EntityClass("%", "humidity")
            case .hectopascal: EntityClass("hPa", "pressure")
            case .pascal: EntityClass("Pa", "pressure")
            case .volt: EntityClass("V", "voltage")
            case .ampere: EntityClass("A", "current")
            case .watt: EntityClass("W", "power")
            case .lux: EntityClass("lx", "illuminance")
            case .hertz: EntityClass("Hz", "frequency")
            case .metre: EntityClass("m", "distance")
            case .metresPerSecond: EntityClass("m/s", "speed")
            case .acidity: EntityClass(nil, "ph")
            case .decibelMilliwatts: EntityClass("dBm", "signal_strength")
            case .byte: EntityClass("B", "data_size")
            case .second: EntityClass("s", "duration")
            // The class of energy is for meters, which only count up.
            case .joule: EntityClass("J")
            case .metresPerSquareSecond: EntityClass("m/s²")
            case .radian: EntityClass("rad")
            case .degree: EntityClass("°")
            case .radiansPerSecond: EntityClass("rad/s")
            case .tesla: EntityClass("T")
            case .ohm: EntityClass("Ω")
            case .farad: EntityClass("F")
            // The class of conductivity does not allow it.
            case .siemensPerMetre: EntityClass("S/m")
            case .perMinute: EntityClass("rpm")
            // The unit does not say what gas or dust it is.
            case .partsPerMillion: EntityClass("ppm")
            case .microgramsPerCubicMetre: EntityClass("µg/m³")
            case .percent: EntityClass("%")
            case .ratio, .count: EntityClass(nil)
            }
    }
}
