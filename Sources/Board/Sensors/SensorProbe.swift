import Glibc
import Groundwork

/// The value of a sensor, in the unit of its definition.
struct SensorValue: Equatable {
    let value: Double
    let quality: Quality
}

/// Reads one sensor from the kernel's files. Finds the files by name, and finds them again if the driver returns
/// under another number.
///
/// Reading blocks for as long as the part takes to measure: 0.75 s for a DS18B20 at 12 bits.
struct SensorProbe {
    let definition: SensorDefinition
    private let machine: Machine
    private var folder: String?

    init(_ definition: SensorDefinition, on machine: Machine) {
        self.definition = definition
        self.machine = machine
    }

    /// - Throws: a ``BoardError`` about a sensor.
    mutating func read() throws(BoardError) -> SensorValue {
        let raw = try readRaw()
        let value = definition.value(ofRaw: raw)
        return SensorValue(value: value, quality: isSuspect(raw, value) ? .uncertain : .good)
    }

    private func isSuspect(_ raw: Double, _ value: Double) -> Bool {
        // A DS18B20 holds 85 °C from its power-up to the end of its first measurement (its data sheet, "Temperature
        // Register").
        if case .oneWire = definition.source, raw == 85_000 { return true }
        return !definition.unit.plausible.contains(value)
    }

    private mutating func readRaw() throws(BoardError) -> Double {
        switch definition.source {
        case .system(let metric): return try metric.read(for: definition.name, on: machine)
        case .oneWire(let device): return try number(in: "/sys/bus/w1/devices/\(device)/temperature")
        case .thermal(let zones):
            return try number(in: "\(try locate(zones, in: .thermal, bus: nil))/temp")
        case .hwmon(let devices, let channel, let bus):
            return try number(in: "\(try locate(devices, in: .hwmon, bus: bus))/\(channel)_input")
        case .iio(let devices, let channel, let bus):
            return try readIIO("\(try locate(devices, in: .iio, bus: bus))/in_", channel)
        }
    }

    /// A processed value, or a raw one with its offset and scale: `(raw + offset) * scale`. Channels of one kind may
    /// share those two.
    private func readIIO(_ stem: String, _ channel: String) throws(BoardError) -> Double {
        if let value = try numberIfThere(in: "\(stem)\(channel)_input") { return value }
        let raw = try number(in: "\(stem)\(channel)_raw")
        let kind = Quantity.kind(of: channel)
        let scale = try firstNumber(in: ["\(stem)\(channel)_scale", "\(stem)\(kind)_scale"]) ?? 1
        let offset = try firstNumber(in: ["\(stem)\(channel)_offset", "\(stem)\(kind)_offset"]) ?? 0
        return (raw + offset) * scale
    }

    // MARK: finding

    /// The kernel's classes in which a device is found by its name, as its number is a matter of chance.
    private enum DeviceClass {
        case hwmon, iio, thermal

        var folder: String {
            switch self {
            case .hwmon: "/sys/class/hwmon"
            case .iio: "/sys/bus/iio/devices"
            case .thermal: "/sys/class/thermal"
            }
        }
        var prefix: String {
            switch self {
            case .hwmon: "hwmon"
            case .iio: "iio:device"
            case .thermal: "thermal_zone"
            }
        }
        var nameFile: String { self == .thermal ? "type" : "name" }
        var noun: String {
            switch self {
            case .hwmon: "hwmon device"
            case .iio: "IIO device"
            case .thermal: "thermal zone"
            }
        }
    }

    private mutating func locate(_ names: [String], in kind: DeviceClass, bus: String?) throws(BoardError) -> String {
        // Checked each time: the number may belong to another device by now.
        if let folder, let name = self.name(of: folder, kind), names.contains(name), isOn(bus, folder) { return folder }
        let folders = machine.names(in: kind.folder, startingWith: kind.prefix).map { "\(kind.folder)/\($0)" }
        for name in names {
            if let found = folders.first(where: { self.name(of: $0, kind) == name && isOn(bus, $0) }) {
                folder = found
                return found
            }
        }
        folder = nil
        let place = "\(kind.noun) \(names.joined(separator: " or "))\(bus.map { " at \($0)" } ?? "")"
        throw BoardError.sensorAbsent(sensor: definition.name, place: place)
    }

    private func name(of folder: String, _ kind: DeviceClass) -> String? {
        let path = machine.path("\(folder)/\(kind.nameFile)")
        guard let bytes = try? BoundedFile.read(path, limit: 256) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Whether the device of a class folder has this name on its bus.
    private func isOn(_ bus: String?, _ folder: String) -> Bool {
        guard let bus else { return true }
        // A hwmon folder links to its device; an IIO device is itself a folder inside its device's.
        for link in ["\(folder)/device", "\(folder)/.."] {
            guard let resolved = realpath(machine.path(link), nil) else { continue }
            defer { free(resolved) }
            if String(cString: resolved).split(separator: "/").last.map(String.init) == bus { return true }
        }
        return false
    }

    // MARK: reading

    private func number(in path: String) throws(BoardError) -> Double {
        guard let number = try numberIfThere(in: path) else {
            throw BoardError.sensorAbsent(sensor: definition.name, place: path)
        }
        return number
    }

    private func firstNumber(in paths: [String]) throws(BoardError) -> Double? {
        for path in paths {
            if let number = try numberIfThere(in: path) { return number }
        }
        return nil
    }

    private func numberIfThere(in path: String) throws(BoardError) -> Double? {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(machine.path(path), limit: DriverNumber.limit)
        } catch .system(Errno(ENOENT)), .system(Errno(ENODEV)) {
            return nil
        } catch .tooLong(let limit) {
            throw BoardError.sensorMalformed(sensor: definition.name, path: path, text: "more than \(limit) bytes")
        } catch {
            throw BoardError.sensorUnreadable(sensor: definition.name, path: path, reason: error.description)
        }
        guard !DriverNumber.isBlank(bytes) else { throw BoardError.sensorSilent(sensor: definition.name, path: path) }
        guard let number = DriverNumber.parse(bytes) else {
            throw BoardError.sensorMalformed(sensor: definition.name, path: path, text: DriverNumber.excerpt(bytes))
        }
        return number
    }
}
