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
    private let files: DriverFiles
    /// Of the device that was read last.
    private var folder: String?
    /// The file that was read last.
    private var file: String?
    private var processor = ProcessorUse()

    init(_ definition: SensorDefinition, on machine: Machine) {
        self.definition = definition
        files = DriverFiles(sensor: definition.name, machine: machine)
    }

    /// A number as the driver counts, and whether its unit is known.
    private struct RawValue {
        let number: Double
        var isScaled = true
    }

    /// - Throws: a ``BoardError`` about a sensor.
    mutating func read() throws(BoardError) -> SensorValue {
        let raw: RawValue
        do throws(BoardError) {
            raw = try readRaw()
        } catch {
            guard error.isAbsence, let file else { throw error }
            throw BoardError.sensorVanished(sensor: definition.name, path: file)
        }
        let value = definition.value(ofRaw: raw.number)
        return SensorValue(value: value, quality: isSuspect(raw, value) ? .uncertain : .good)
    }

    private func isSuspect(_ raw: RawValue, _ value: Double) -> Bool {
        // A DS18B20 holds 85 °C from its power-up to the end of its first measurement (its data sheet, "Temperature
        // Register").
        if case .oneWire = definition.source, raw.number == 85_000 { return true }
        return !raw.isScaled || isUnconverted || !definition.unit.plausible.contains(value)
    }

    /// Whether the driver's number is in another unit than the definition says, which has no scale that converts it.
    private var isUnconverted: Bool {
        guard let own = definition.source.quantity?.unit, own != .count, definition.unit != .count else { return false }
        return own != definition.unit && definition.scale == 1
    }

    private mutating func readRaw() throws(BoardError) -> RawValue {
        switch definition.source {
        case .system(let metric): return RawValue(number: try metric.read(from: files, &processor))
        case .oneWire(let devices):
            return RawValue(number: try number(in: devices.map { "/sys/bus/w1/devices/\($0)/temperature" }))
        case .thermal(let zones):
            return RawValue(number: try number(in: ["\(try locate(zones, in: .thermal, bus: nil))/temp"]))
        case .hwmon(let devices, let name, let bus):
            let folder = try locate(devices, in: .hwmon, bus: bus)
            let channel = HwmonChannel(name)
            guard let number = try numberIfThere(in: "\(folder)/\(channel.file)") else {
                throw channelAbsent(name, of: .hwmon, in: folder, present: HwmonChannel.name(ofFile:))
            }
            return RawValue(number: number)
        case .iio(let devices, let name, let bus):
            return try readIIO(try locate(devices, in: .iio, bus: bus), IIOChannel(name))
        }
    }

    /// A processed value, or a raw one with its offset and scale: `(raw + offset) * scale`.
    private mutating func readIIO(_ folder: String, _ channel: IIOChannel) throws(BoardError) -> RawValue {
        if let value = try numberIfThere(in: "\(folder)/\(channel.processedFile)") { return RawValue(number: value) }
        guard let raw = try numberIfThere(in: "\(folder)/\(channel.rawFile)") else {
            throw channelAbsent(channel.name, of: .iio, in: folder, present: IIOChannel.name(ofFile:))
        }
        func attribute(_ name: String) throws(BoardError) -> Double? {
            try files.firstNumber(in: channel.files(of: name).map { "\(folder)/\($0)" })?.number
        }
        let scale = try attribute("scale")
        let offset = try attribute("offset") ?? 0
        // A scale that was rounded to nothing is none.
        let isScaled = scale.map { $0 != 0 } ?? mayBeUnscaled(channel)
        return RawValue(number: (raw + offset) * (scale ?? 1), isScaled: isScaled)
    }

    /// Whether a raw number is what the definition asks for: it is one of a type without a unit, or the definition
    /// wants the count or has the scale itself.
    private func mayBeUnscaled(_ channel: IIOChannel) -> Bool {
        let wantsCount = definition.unit == .count && channel.quantity?.unit != .count
        return channel.isUnitless || wantsCount || definition.scale != 1
    }

    // MARK: files

    /// The number in the first of these files that is there.
    private mutating func number(in paths: [String]) throws(BoardError) -> Double {
        guard let found = try files.firstNumber(in: paths) else {
            throw BoardError.sensorAbsent(sensor: definition.name, place: paths.joined(separator: " or "))
        }
        file = found.path
        return found.number
    }

    private mutating func numberIfThere(in path: String) throws(BoardError) -> Double? {
        guard let number = try files.numberIfThere(in: path) else { return nil }
        file = path
        return number
    }

    /// The folder of the first of these devices that is there.
    private mutating func locate(_ names: [String], in kind: DeviceClass, bus: String?) throws(BoardError) -> String {
        let machine = files.machine
        func isOn(_ folder: String) -> Bool { bus.map { kind.isOn($0, folder, on: machine) } ?? true }
        // Checked each time: the number may belong to another device by now.
        if let folder, let name = kind.name(of: folder, on: machine), names.contains(name), isOn(folder) {
            return folder
        }
        let folders = kind.folders(on: machine)
        for name in names {
            if let found = folders.first(where: { kind.name(of: $0, on: machine) == name && isOn($0) }) {
                folder = found
                return found
            }
        }
        folder = nil
        let place = "\(kind.noun) \(names.joined(separator: " or "))\(bus.map { " at \($0)" } ?? "")"
        throw BoardError.sensorAbsent(sensor: definition.name, place: place)
    }

    /// - Parameter present: the channel of a file, if it has a value.
    private func channelAbsent(
        _ channel: String, of kind: DeviceClass, in folder: String, present: (String) -> String?
    ) -> BoardError {
        let name = kind.name(of: folder, on: files.machine) ?? folder
        return BoardError.channelAbsent(
            sensor: definition.name, device: "\(kind.noun) \(name)", channel: channel,
            present: files.machine.names(in: folder).compactMap(present))
    }
}
