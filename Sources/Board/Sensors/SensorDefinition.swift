/// One sensor of a board: where it is read, what its number means and how often it is sent.
public struct SensorDefinition: Sendable, Equatable {
    /// Where the kernel provides the value.
    public enum Source: Sendable, Equatable {
        /// `/sys/class/hwmon/hwmon*` by its `name`, first of these found; `channel` is a ``HwmonChannel``, such as
        /// `temp1`. `bus` distinguishes several devices of one name: it is the device's name on its bus, such as
        /// `1-0048`.
        case hwmon(devices: [String], channel: String, bus: String?)
        /// `/sys/bus/iio/devices/iio:device*` by its `name`; `channel` is an ``IIOChannel``, such as `temp` or
        /// `voltage0`.
        case iio(devices: [String], channel: String, bus: String?)
        /// `/sys/class/thermal/thermal_zone*` by its `type`, first of these found.
        case thermal(zones: [String])
        /// `/sys/bus/w1/devices/ID`, a thermometer by its family and serial number, such as `28-0000d0a7b001`, first of
        /// these found.
        case oneWire(devices: [String])
        case system(SystemMetric)
    }

    /// A value that the kernel reports about the machine itself.
    public enum SystemMetric: Sendable, Equatable {
        /// Runnable tasks, averaged over a minute.
        case load
        /// Memory that programs could still get without swapping, in bytes (`MemAvailable`, proc(5)).
        case memoryAvailable
        /// Free space for unprivileged users on the file system that holds this folder, in bytes.
        case diskFree(path: String)
        /// Since the start of the kernel, in seconds.
        case uptime
        /// How much of the time since the last reading the processors were busy, in percent.
        case processor
        /// In dBm, of the first of these interfaces that is there; without a name of the first that is connected.
        case wirelessSignal(interfaces: [String])
        /// Whether a Raspberry Pi slows its processor, because of its supply or its temperature: 0 or 1.
        case throttled
        /// How much of the life of an eMMC is used at most, in percent, in steps of 10.
        case flashWorn
        /// The spare blocks of an eMMC: 1 normal, 2 when 80 % of them are used, 3 when 90 % are.
        case flashReserve
        /// Why the board started: 1 its power came on, 2 it was restarted, 3 its watchdog restarted it, 4 it had been
        /// too hot, 5 its power had failed.
        case bootReason
        /// Bytes that went out this month, in UTC.
        case networkSent
        /// Bytes that came in this month, in UTC.
        case networkReceived
    }

    public let name: String
    public let source: Source
    public let unit: SenMLUnit
    /// The driver's number is divided by this to be in ``unit``; 1000 if the driver counts thousandths.
    public let divisor: Double
    /// Correction, after the division: `value * scale + offset`.
    public let scale: Double
    public let offset: Double
    /// How often it is read.
    public let period: Duration
    /// How far a value must differ from the last one sent to be sent, in ``unit``; with 0 every change counts.
    public let deadband: Double
    /// The shortest time between two messages.
    public let leastInterval: Duration
    /// The longest time between two messages; an unchanged value is sent again after it.
    public let greatestInterval: Duration
    /// Whether a board is complete without this part, so that its absence is not a failure.
    public let isOptional: Bool

    public init(
        name: String, source: Source, unit: SenMLUnit, divisor: Double = 1, scale: Double = 1, offset: Double = 0,
        period: Duration = .seconds(60), deadband: Double = 0, leastInterval: Duration = .zero,
        greatestInterval: Duration = .seconds(900), isOptional: Bool = false
    ) {
        self.name = name
        self.source = source
        self.unit = unit
        self.divisor = divisor
        self.scale = scale
        self.offset = offset
        self.period = period
        self.deadband = deadband
        self.leastInterval = leastInterval
        self.greatestInterval = greatestInterval
        self.isOptional = isOptional
    }

    /// The value in ``unit`` of the driver's number, without digits that are arithmetic noise.
    func value(ofRaw raw: Double) -> Double {
        let value = raw / divisor * scale + offset
        let rounded = (value * unit.stepsPerUnit).rounded() / unit.stepsPerUnit
        return rounded.isFinite ? rounded : value
    }
}
