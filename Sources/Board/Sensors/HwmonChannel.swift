/// A channel of a hwmon device, or one attribute of a channel: `temp1` is what it measures, `in0_lcrit_alarm` whether
/// it is below its critical limit, `temp1_crit` that limit (Documentation/hwmon/sysfs-interface.rst in the kernel's
/// source).
struct HwmonChannel: Equatable {
    let name: String
    /// `in` of `in0_lcrit_alarm`.
    private let type: String
    /// The last word of an attribute: `alarm` of `in0_lcrit_alarm`; `nil` for what the channel measures.
    private let attribute: String?

    init(_ name: String) {
        self.name = name
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        type = String(words[0].prefix { ("a"..."z").contains($0) })
        attribute = words.count > 1 ? String(words[words.count - 1]) : nil
    }

    /// The file that is read.
    var file: String { attribute == nil ? "\(name)_input" : name }

    /// What its number means; `nil` where the kernel's conventions do not say it.
    var quantity: Quantity? {
        guard let attribute else { return Self.quantities[type] }
        if Self.flags.contains(attribute) { return Quantity(unit: .count, divisor: 1) }
        return Self.inUnitOfChannel.contains(attribute) ? Self.quantities[type] : nil
    }

    /// The channel or attribute of a file that is worth being read as a sensor: `temp1` of `temp1_input`,
    /// `in0_lcrit_alarm` unchanged; `nil` for any other file.
    static func name(ofFile file: String) -> String? {
        let channel = HwmonChannel(file)
        guard let attribute = channel.attribute else { return nil }
        if attribute == "input" { return String(file.dropLast("_input".count)) }
        return attribute == "alarm" || attribute == "fault" ? file : nil
    }

    /// Those that are 0 or 1.
    private static let flags: Set = ["alarm", "beep", "enable", "fault"]

    private static let inUnitOfChannel: Set = [
        "average", "cap", "crit", "emergency", "highest", "hyst", "input", "lcrit", "lowest", "max", "min", "target",
    ]

    private static let quantities: [String: Quantity] = [
        "temp": Quantity(unit: .celsius, divisor: 1000),
        "humidity": Quantity(unit: .relativeHumidity, divisor: 1000),
        "in": Quantity(unit: .volt, divisor: 1000),
        "curr": Quantity(unit: .ampere, divisor: 1000),
        "power": Quantity(unit: .watt, divisor: 1_000_000),
        "energy": Quantity(unit: .joule, divisor: 1_000_000),
        "fan": Quantity(unit: .perMinute, divisor: 1),
        "freq": Quantity(unit: .hertz, divisor: 1),
    ]
}
