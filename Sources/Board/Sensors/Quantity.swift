/// The meaning of a driver's number by the kernel's conventions: its SI unit, and how many of the driver's units make
/// one.
struct Quantity: Equatable {
    let unit: SenMLUnit
    let divisor: Double
}

extension SensorDefinition.Source {
    /// The default quantity of this source; `nil` for a channel that the kernel's conventions do not define.
    var quantity: Quantity? {
        switch self {
        case .hwmon(_, let channel, _): HwmonChannel(channel).quantity
        case .iio(_, let channel, _): IIOChannel(channel).quantity
        case .thermal, .oneWire: Quantity(unit: .celsius, divisor: 1000)
        case .system(.load), .system(.throttled), .system(.flashReserve), .system(.bootReason):
            Quantity(unit: .count, divisor: 1)
        case .system(.memoryAvailable), .system(.diskFree), .system(.networkSent), .system(.networkReceived):
            Quantity(unit: .byte, divisor: 1)
        case .system(.uptime): Quantity(unit: .second, divisor: 1)
        case .system(.processor), .system(.flashWorn): Quantity(unit: .percent, divisor: 1)
        case .system(.wirelessSignal): Quantity(unit: .decibelMilliwatts, divisor: 1)
        }
    }
}
