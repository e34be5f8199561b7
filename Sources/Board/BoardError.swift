import Groundwork
public import Settings

/// What can go wrong between the agent and the board's hardware.
public enum BoardError: Explained, Equatable {
    /// No folder searched has a definition of this name.
    case definitionAbsent(name: String, searched: [String], known: [String])
    /// The file of a definition cannot be read.
    case definitionUnreadable(path: String, reason: String)
    /// The file of a definition is not valid; every fault found is listed.
    case definitionFaulty(path: String, faults: [SettingsFault])

    /// The kernel offers no GPIO chip with this label.
    case chipAbsent(label: String, present: [String])
    /// The device file of a GPIO chip may not be opened.
    case chipForbidden(path: String)
    /// The chip has no such line.
    case lineAbsent(chip: String, line: LineSelector)
    /// Another program or driver holds the line.
    case lineBusy(chip: String, line: LineSelector, consumer: String)
    /// An operation on a GPIO chip or line failed.
    case lineFailed(operation: String, chip: String, reason: String)

    /// No driver offers what the definition names.
    case sensorAbsent(sensor: String, place: String)
    /// The driver's file gives an error.
    case sensorUnreadable(sensor: String, path: String, reason: String)
    /// The driver's file is empty: the part does not answer.
    case sensorSilent(sensor: String, path: String)
    /// The driver does not come back from a read.
    case sensorStalled(sensor: String, patience: Duration)
    /// The driver's file holds no number, or too much.
    case sensorMalformed(sensor: String, path: String, text: String)

    public var code: String {
        switch self {
        case .definitionAbsent: "board.definition-absent"
        case .definitionUnreadable: "board.definition-unreadable"
        case .definitionFaulty: "board.definition-faulty"
        case .chipAbsent: "board.chip-absent"
        case .chipForbidden: "board.chip-forbidden"
        case .lineAbsent: "board.line-absent"
        case .lineBusy: "board.line-busy"
        case .lineFailed: "board.line-failed"
        case .sensorAbsent: "board.sensor-absent"
        case .sensorUnreadable: "board.sensor-unreadable"
        case .sensorSilent: "board.sensor-silent"
        case .sensorStalled: "board.sensor-stalled"
        case .sensorMalformed: "board.sensor-malformed"
        }
    }

    public var message: String {
        switch self {
        case .definitionAbsent(let name, let searched, _):
            "no board definition \(name) in \(searched.joined(separator: ", "))"
        case .definitionUnreadable(let path, let reason): "cannot read board definition \(path): \(reason)"
        case .definitionFaulty(let path, let faults):
            "board definition \(path): " + faults.map(\.description).joined(separator: " | ")
        case .chipAbsent(let label, let present):
            "no GPIO chip is labelled \(label)"
                + (present.isEmpty ? ", there is none at all" : "; present: \(present.joined(separator: ", "))")
        case .chipForbidden(let path): "cannot open GPIO chip \(path): permission denied"
        case .lineAbsent(let chip, let line): "GPIO chip \(chip) has no line \(line)"
        case .lineBusy(let chip, let line, let consumer):
            "line \(line) of GPIO chip \(chip) is in use by \(consumer.isEmpty ? "the kernel" : consumer)"
        case .lineFailed(let operation, let chip, let reason): "cannot \(operation) of GPIO chip \(chip): \(reason)"
        case .sensorAbsent(let sensor, let place): "sensor \(sensor): \(place) is not there"
        case .sensorUnreadable(let sensor, let path, let reason): "sensor \(sensor): cannot read \(path): \(reason)"
        case .sensorSilent(let sensor, let path): "sensor \(sensor): \(path) is empty, the part does not answer"
        case .sensorStalled(let sensor, let patience): "sensor \(sensor): its driver has not answered for \(patience)"
        case .sensorMalformed(let sensor, let path, let text):
            "sensor \(sensor): \(path) holds no number but \"\(text)\""
        }
    }

    public var remedy: String? {
        switch self {
        case .definitionAbsent(_, _, let known):
            known.isEmpty
                ? "install the package's board files, or write one" : "use one of: \(known.joined(separator: ", "))"
        case .definitionUnreadable: "make the file readable for the agent's user"
        case .definitionFaulty: "correct the file; the installed definitions show every key"
        case .chipAbsent:
            "name the chip as `gpiodetect` shows it in the board definition, or set `simulated = true` there"
        case .chipForbidden(let path): "let the agent's user into the group of \(path), by default gpio"
        case .lineAbsent: "name a line that `gpioinfo` shows in the board definition"
        case .lineBusy: "stop that program or device tree overlay, or choose another line in the board definition"
        case .lineFailed: "look at the kernel's log (dmesg) for that chip"
        case .sensorAbsent: "check the wiring and the part's driver (dmesg), or take the sensor out of the definition"
        case .sensorUnreadable: "check the wiring and the kernel's log (dmesg)"
        case .sensorSilent: "check the part's wiring and its pull-up resistor"
        case .sensorStalled: "check the part's wiring and the kernel's log (dmesg); restart the board if it goes on"
        case .sensorMalformed: "check the channel in the board definition"
        }
    }
}
