import Groundwork
public import Settings

/// An error between the agent and the board's hardware.
public enum BoardError: Explained, Equatable {
    /// No folder searched has a definition of this name.
    case definitionAbsent(name: String, searched: [String], known: [String])
    /// The file of a definition cannot be read.
    case definitionUnreadable(path: String, reason: String)
    /// The file of a definition is not valid; every fault found is listed.
    case definitionFaulty(path: String, faults: [SettingsFault])

    /// The kernel offers no GPIO chip with this label, or of the device at this path.
    case chipAbsent(label: String, present: [String])
    /// The device file of a GPIO chip may not be opened.
    case chipForbidden(path: String)
    /// The chip has no such line.
    case lineAbsent(chip: String, line: LineSelector)
    /// Another program or driver holds the line.
    case lineBusy(chip: String, line: LineSelector, consumer: String)
    /// An operation on a GPIO chip or line failed.
    case lineFailed(operation: String, chip: String, reason: String)

    /// What the kernel shows by a class of its own, with names.
    public enum ClassPart: String, Sendable {
        case input = "input device"
        case led = "LED"
    }
    /// The kernel has no input device, or no LED, of these names.
    case partAbsent(ClassPart, names: [String])
    case partFailed(ClassPart, name: String, reason: String)

    /// No driver offers what the definition names.
    case sensorAbsent(sensor: String, place: String)
    /// The kernel does not have this value of the machine itself.
    case metricAbsent(sensor: String, place: String)
    /// The device has no such channel.
    case channelAbsent(sensor: String, device: String, channel: String, present: [String])
    /// The driver has taken away the file that was read before.
    case sensorVanished(sensor: String, path: String)
    /// Reading the driver's file fails.
    case sensorUnreadable(sensor: String, path: String, reason: String)
    /// The driver's file is empty: the part does not answer.
    case sensorSilent(sensor: String, path: String)
    /// The driver does not return from a read.
    case sensorStalled(sensor: String, patience: Duration)
    /// The driver's file does not contain a number, or is too long.
    case sensorMalformed(sensor: String, path: String, text: String)

    /// gpsd cannot be asked where the board is.
    case gpsdFailed(address: String, reason: String)
    /// gpsd answers, and reported no fix in time.
    case noFix(address: String)

    /// The keypad that the settings name cannot be read.
    case keypadFailed(path: String, reason: String)
    /// The code scanner that the settings name cannot be read.
    case scannerFailed(name: String, reason: String)

    public var explanation: Explanation {
        switch self {
        case .definitionAbsent(let name, let searched, let known):
            Explanation(
                "board.definition-absent", .configuration,
                "no board definition \(name) in \(searched.joined(separator: ", "))",
                remedy: known.isEmpty
                    ? "install the package's board files, or write one"
                    : "use one of: \(known.joined(separator: ", "))")
        case .definitionUnreadable(let path, let reason):
            Explanation(
                "board.definition-unreadable", .configuration,
                "cannot read board definition \(path): \(reason)",
                remedy: "make the file readable for the agent's user")
        case .definitionFaulty(let path, let faults):
            Explanation(
                "board.definition-faulty", .configuration,
                "board definition \(path): " + faults.map(\.description).joined(separator: " | "),
                remedy: "correct the file; the installed definitions show every key")
        case .chipAbsent(let label, let present):
            Explanation(
                "board.chip-absent", .configuration,
                "no GPIO chip is \(label.hasPrefix("/") ? "of the device" : "labeled") \(label)"
                    + (present.isEmpty
                        ? ", and there are no GPIO chips at all" : "; present: \(present.joined(separator: ", "))"),
                remedy: "name the chip as `gpiodetect` shows it in the board definition, or set `simulated = true` "
                    + "there")
        case .chipForbidden(let path):
            Explanation(
                "board.chip-forbidden", .configuration, "cannot open GPIO chip \(path): permission denied",
                remedy: "add the agent's user to the group of \(path), gpio by default")
        case .lineAbsent(let chip, let line):
            Explanation(
                "board.line-absent", .configuration, "GPIO chip \(chip) has no line \(line)",
                remedy: "name a line that `gpioinfo` shows in the board definition")
        case .lineBusy(let chip, let line, let consumer):
            Explanation(
                "board.line-busy", .configuration,
                "line \(line) of GPIO chip \(chip) is in use by \(consumer.isEmpty ? "the kernel" : consumer)",
                remedy:
                    "stop that program, remove that device tree overlay, or choose another line in the board definition"
            )
        case .lineFailed(let operation, let chip, let reason):
            Explanation(
                "board.line-failed", .unavailable, "cannot \(operation) of GPIO chip \(chip): \(reason)",
                remedy: "check the kernel's log (dmesg) for that chip")
        case .partAbsent(let part, let names):
            Explanation(
                "board.part-absent", .configuration, "no \(part.rawValue) is named \(names.joined(separator: " or "))",
                remedy: part == .led
                    ? "name the LED in the board definition as /sys/class/leds lists it"
                    : "name the device in the board definition as /proc/bus/input/devices lists it")
        case .partFailed(let part, let name, let reason):
            Explanation(
                "board.part-failed", .unavailable, "cannot use the \(part.rawValue) \(name): \(reason)",
                remedy: "let the agent's service use it: install the drop-in "
                    + "/usr/share/doc/latchkey/latchkey-device-tree.conf, whose first lines explain how")
        case .sensorAbsent(let sensor, let place):
            Explanation(
                "board.sensor-absent", .unavailable, "sensor \(sensor): \(place) was not found",
                remedy: "check the wiring and the part's driver (dmesg), or remove the sensor from the definition")
        case .metricAbsent(let sensor, let place):
            Explanation(
                "board.metric-absent", .unavailable, "sensor \(sensor): this machine has no \(place)",
                remedy: "correct the sensor in the board definition, or remove it")
        case .channelAbsent(let sensor, let device, let channel, let present):
            Explanation(
                "board.channel-absent", .configuration,
                "sensor \(sensor): \(device) has no channel \(channel)"
                    + (present.isEmpty ? ", and no other" : "; it has \(present.joined(separator: ", "))"),
                remedy: "name a channel of the device in the board definition, or remove the sensor")
        case .sensorVanished(let sensor, let path):
            Explanation(
                "board.sensor-vanished", .unavailable, "sensor \(sensor): \(path) has disappeared",
                remedy: "check the wiring and the kernel's log (dmesg)")
        case .sensorUnreadable(let sensor, let path, let reason):
            Explanation(
                "board.sensor-unreadable", .unavailable, "sensor \(sensor): cannot read \(path): \(reason)",
                remedy: "check the wiring and the kernel's log (dmesg)")
        case .sensorSilent(let sensor, let path):
            Explanation(
                "board.sensor-silent", .unavailable,
                "sensor \(sensor): \(path) is empty: the part does not respond",
                remedy: "check the part's wiring and its pull-up resistor")
        case .sensorStalled(let sensor, let patience):
            Explanation(
                "board.sensor-stalled", .unavailable,
                "sensor \(sensor): its driver has not answered for \(patience)",
                remedy: "check the part's wiring and the kernel's log (dmesg); restart the board if it persists")
        case .sensorMalformed(let sensor, let path, let text):
            Explanation(
                "board.sensor-malformed", .unavailable,
                "sensor \(sensor): \(path) contains \"\(text)\", which is not a number",
                remedy: "check the channel in the board definition")

        case .gpsdFailed(let address, let reason):
            Explanation(
                "board.gpsd-failed", .unavailable, "cannot ask gpsd at \(address) for the location: \(reason)",
                remedy: "check that gpsd runs (systemctl status gpsd.socket), and location.gpsd in the settings")
        case .noFix(let address):
            Explanation(
                "board.no-fix", .temporary, "gpsd at \(address) does not know the location at present",
                remedy: "check the receiver and its view of the sky: gpsmon, or cgps")

        case .keypadFailed(let path, let reason):
            Explanation(
                "board.keypad-failed", .unavailable, "cannot read the keypad \(path): \(reason)",
                remedy: "check mpin.keypad in the settings, and that the agent may read the device (group input)")
        case .scannerFailed(let name, let reason):
            Explanation(
                "board.scanner-failed", .unavailable, "cannot read the scanner \(DisplayText.clean(name)): \(reason)",
                remedy: "plug it in, check enrollment.scanner in the settings, and that the agent may read the device "
                    + "(group input, and DeviceAllow=char-input r)")
        }
    }

    /// Whether the kernel has no part that a sensor of the definition names, as far as is known.
    var isAbsence: Bool {
        switch self {
        case .sensorAbsent, .metricAbsent, .channelAbsent: true
        default: false
        }
    }

    /// Whether the machine itself lacks a value. It may come and go, as that of a wireless connection does, and no wire
    /// is loose then.
    var isAbsenceOfMetric: Bool { if case .metricAbsent = self { true } else { false } }

    public static let examples: [BoardError] = [
        .definitionAbsent(name: "NAME", searched: ["DIRECTORY"], known: []),
        .definitionUnreadable(path: "PATH", reason: "REASON"),
        .definitionFaulty(path: "PATH", faults: [SettingsFault(keyPath: "KEY", fault: "FAULT", fix: "FIX")]),
        .chipAbsent(label: "LABEL", present: []), .chipForbidden(path: "PATH"),
        .lineAbsent(chip: "CHIP", line: .name("LINE")),
        .lineBusy(chip: "CHIP", line: .name("LINE"), consumer: "PROGRAM"),
        .lineFailed(operation: "OPERATION", chip: "CHIP", reason: "REASON"),
        .partAbsent(.input, names: ["NAME"]), .partAbsent(.led, names: ["NAME"]),
        .partFailed(.led, name: "NAME", reason: "REASON"),
        .sensorAbsent(sensor: "SENSOR", place: "PATH"), .metricAbsent(sensor: "SENSOR", place: "PATH"),
        .channelAbsent(sensor: "SENSOR", device: "DEVICE", channel: "CHANNEL", present: []),
        .sensorVanished(sensor: "SENSOR", path: "PATH"),
        .sensorUnreadable(sensor: "SENSOR", path: "PATH", reason: "REASON"),
        .sensorSilent(sensor: "SENSOR", path: "PATH"),
        .sensorStalled(sensor: "SENSOR", patience: .seconds(10)),
        .sensorMalformed(sensor: "SENSOR", path: "PATH", text: "TEXT"),
        .gpsdFailed(address: "ADDRESS", reason: "REASON"), .noFix(address: "ADDRESS"),
        .keypadFailed(path: "PATH", reason: "REASON"), .scannerFailed(name: "NAME", reason: "REASON"),
    ]
}
