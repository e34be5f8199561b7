import Groundwork
import Settings

extension BoardDefinition {
    /// Most sensors a board may define.
    static let sensorLimit = 64

    /// Reads a definition.
    ///
    /// - Parameters:
    ///   - toml: the text of the file.
    ///   - path: where the text is from, for messages; its last part without `.toml` is the definition's name.
    /// - Throws: ``BoardError/definitionFaulty(path:faults:)`` with every fault found.
    public init(toml: String, path: String) throws(BoardError) {
        let members: [String: JSON]
        do {
            members = try SettingsDocument.parse(toml)
        } catch {
            throw BoardError.definitionFaulty(path: path, faults: [error])
        }
        var table = SettingsTable(members)
        let file = path.split(separator: "/").last.map(String.init) ?? path
        name = file.hasSuffix(".toml") ? String(file.dropLast(5)) : file
        title = table.string("title", required: "write the board's human-readable name") ?? ""
        models = table.strings("models") ?? []
        button = Self.line("button", in: &table)
        led = Self.line("led", in: &table)

        var sensors: [SensorDefinition] = []
        for var sensor in table.tables("sensor", atMost: Self.sensorLimit) {
            if let definition = SensorDefinition(from: &sensor) {
                if sensors.contains(where: { $0.name == definition.name }) {
                    sensor.note(
                        "name", "\(definition.name) is already used by an earlier sensor", fix: "choose another name")
                }
                sensors.append(definition)
            }
            table.adopt(sensor.faults)
        }
        self.sensors = sensors
        table.refuseUnknownKeys()
        guard table.faults.isEmpty else { throw BoardError.definitionFaulty(path: path, faults: table.faults) }
    }

    private static func line(_ key: String, in table: inout SettingsTable) -> LineDefinition? {
        guard var inner = table.table(key) else { return nil }
        defer { table.adopt(inner.faults) }
        return LineDefinition(from: &inner, isInput: key == "button")
    }
}

extension LineDefinition {
    /// Reads `[button]` or `[led]`; `nil` when the place is faulty.
    fileprivate init?(from table: inout SettingsTable, isInput: Bool) {
        if table.has(isInput ? "input" : "class") {
            self.init(ofClass: &table, isInput: isInput)
            return
        }
        let isSimulated = table.bool("simulated") ?? false
        let chip = table.string(
            "chip",
            required: isSimulated
                ? nil
                : "write the chip's label as `gpiodetect` shows it, or the path of its device, or `simulated = true`")
        let line = Self.selector(in: &table, isRequired: !isSimulated)
        if isSimulated, chip != nil || line != nil {
            table.note("simulated", "given together with a chip or a line", fix: "keep one of the two")
        }
        let active = table.choice("active", of: ActiveLevel.self)
        let bias = table.choice("bias", of: LineBias.self)
        let debounce = isInput ? table.integer("debounce-ms", in: 0...1000) : nil
        table.refuseUnknownKeys()

        let place: Place
        if isSimulated {
            place = .simulated
        } else if let chip, let line {
            place = .gpio(chip: chip, line: line)
        } else {
            return nil
        }
        self.init(
            place: place, active: active ?? .high, bias: bias ?? .asIs, debounce: .milliseconds(debounce ?? 20))
    }

    /// Reads a part that the kernel's own drivers work: they know its line, its level and its resistor.
    private init?(ofClass table: inout SettingsTable, isInput: Bool) {
        let names = table.fileNames(isInput ? "input" : "class")
        let key = isInput ? table.integer("key", in: 1...767) : nil
        let debounce = isInput ? table.integer("debounce-ms", in: 0...1000) : nil
        table.refuseUnknownKeys()
        guard let names, !names.isEmpty else { return nil }
        self.init(
            place: isInput ? .input(devices: names, key: key.map(UInt16.init)) : .ledClass(names: names),
            debounce: .milliseconds(debounce ?? 20))
    }

    private static func selector(in table: inout SettingsTable, isRequired: Bool) -> LineSelector? {
        if table.isNumber("line") { return table.integer("line", in: 0...65_535).map { .offset(UInt32($0)) } }
        let fix = "write the line's number or name as `gpioinfo` shows it"
        return table.string("line", required: isRequired ? fix : nil).map { .name($0) }
    }
}

extension SensorDefinition {
    private enum SourceName: String, CaseIterable {
        case hwmon, iio, thermal, w1, system
    }

    /// Reads one `[[sensor]]`; `nil` if a required key is faulty.
    fileprivate init?(from table: inout SettingsTable) {
        let name = Self.name(in: &table)
        let source = Self.source(in: &table)
        let natural = source?.quantity
        let unit = table.choice("unit", of: SenMLUnit.self)
        if !table.has("unit"), source != nil, natural == nil {
            table.note(
                "unit", "missing, and this channel has no default unit",
                fix: "write the unit, and a scale that converts to it")
        }
        let scale = table.number("scale") ?? 1
        let offset = table.number("offset") ?? 0
        let period = table.seconds("period-s", from: 0.1) ?? .seconds(60)
        let deadband = table.number("deadband") ?? 0
        let least = table.seconds("least-interval-s") ?? .zero
        let greatest = table.seconds("greatest-interval-s") ?? max(.seconds(900), least, period)
        let isOptional = table.bool("optional") ?? false
        table.refuseUnknownKeys()

        if deadband < 0 { table.note("deadband", "is negative", fix: "write 0 or more, in the sensor's unit") }
        if greatest < max(least, period) {
            table.note("greatest-interval-s", "is shorter than the period or the minimum interval", fix: "lengthen it")
        }
        guard let name, let source, let resolved = unit ?? natural?.unit else { return nil }
        self.init(
            name: name, source: source, unit: resolved,
            // A unit other than the default means that the driver's number is not converted.
            divisor: natural.flatMap { $0.unit == resolved ? $0.divisor : nil } ?? 1, scale: scale, offset: offset,
            period: period, deadband: deadband, leastInterval: least, greatestInterval: greatest, isOptional: isOptional
        )
    }

    private static func name(in table: inout SettingsTable) -> String? {
        guard let name = table.string("name", required: "write a name such as \"cpu.temperature\"") else { return nil }
        guard SensorName.isValid(name) else {
            table.note("name", "is not a valid sensor name", fix: "write at most 64 of a-z 0-9 . - _")
            return nil
        }
        return name
    }

    private static func source(in table: inout SettingsTable) -> Source? {
        guard table.has("source") else {
            _ = table.string("source", required: "write one of hwmon, iio, thermal, w1, system")
            return nil
        }
        guard let source = table.choice("source", of: SourceName.self) else { return nil }
        switch source {
        case .hwmon, .iio:
            let devices = table.fileNames("device", required: "write the device's name as its file `name` shows it")
            let channel = table.fileName("channel", required: "write the channel, such as \"temp1\" or \"pressure\"")
            let bus = table.fileName("bus")
            guard let devices, let channel else { return nil }
            return source == .hwmon
                ? .hwmon(devices: devices, channel: channel, bus: bus)
                : .iio(devices: devices, channel: channel, bus: bus)
        case .thermal:
            return table.fileNames("device", required: "write the zone's type, such as \"cpu-thermal\"").map {
                .thermal(zones: $0)
            }
        case .w1:
            return table.fileNames("device", required: "write the part's id, such as \"28-0000d0a7b001\"").map {
                .oneWire(devices: $0)
            }
        case .system: return metric(in: &table).map(Source.system)
        }
    }

    private static func metric(in table: inout SettingsTable) -> SystemMetric? {
        let words =
            "\"load\", \"cpu\", \"memory-available\", \"disk-free\", \"uptime\", \"wifi-signal\", \"throttled\", "
            + "\"flash-worn\", \"flash-reserve\", \"boot-reason\", \"network-sent\" or \"network-received\""
        switch table.string("channel", required: "write \(words)") {
        case nil: return nil
        case "load": return .load
        case "memory-available": return .memoryAvailable
        case "uptime": return .uptime
        case "cpu": return .processor
        case "wifi-signal": return .wirelessSignal(interfaces: table.fileNames("device") ?? [])
        case "throttled": return .throttled
        case "flash-worn": return .flashWorn
        case "flash-reserve": return .flashReserve
        case "boot-reason": return .bootReason
        case "network-sent": return .networkSent
        case "network-received": return .networkReceived
        case "disk-free":
            guard let path = table.string("path", required: "write a folder of the file system") else { return nil }
            guard path.hasPrefix("/") else {
                table.note("path", "does not begin with a slash", fix: "write an absolute path")
                return nil
            }
            return .diskFree(path: path)
        case .some(let word):
            table.note("channel", "\"\(word)\" is not a system metric", fix: "write \(words)")
            return nil
        }
    }
}

extension SettingsTable {
    /// Strings that become part of a path, so they must not lead out of the folder.
    fileprivate mutating func fileNames(_ key: String, required fix: String? = nil) -> [String]? {
        guard let names = strings(key, required: fix) else { return nil }
        guard names.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) && !$0.hasPrefix(".") && $0.utf8.count <= 128 })
        else {
            note(key, "has a slash or a leading dot", fix: "write the name alone")
            return nil
        }
        return names
    }

    /// One such string, also as an array.
    fileprivate mutating func fileName(_ key: String, required fix: String? = nil) -> String? {
        guard let names = fileNames(key, required: fix) else { return nil }
        guard names.count == 1 else {
            note(key, "has \(names.count) values", fix: "write one")
            return nil
        }
        return names[0]
    }
}
