import Glibc
import Groundwork

extension SensorDefinition.SystemMetric {
    /// - Parameter processor: of the same sensor each time.
    /// - Throws: ``BoardError`` of the sensor whose files these are.
    func read(from files: DriverFiles, _ processor: inout ProcessorUse) throws(BoardError) -> Double {
        switch self {
        case .load: return try Self.firstNumber(of: "/proc/loadavg", files)
        case .uptime: return try Self.firstNumber(of: "/proc/uptime", files)
        case .memoryAvailable: return try Self.availableMemory(files)
        case .diskFree(let path): return try Self.freeBytes(at: path, files)
        case .processor: return try Self.busyPercent(files, &processor)
        case .wirelessSignal(let interfaces): return try Self.signal(of: interfaces, files)
        case .throttled: return try Self.throttled(files)
        case .flashWorn: return try Self.flashWorn(files)
        case .flashReserve: return try Self.flashReserve(files)
        case .bootReason: return try Self.bootReason(files)
        case .networkSent: return Double(try Self.traffic(files).sent)
        case .networkReceived: return Double(try Self.traffic(files).received)
        }
    }

    private static func firstNumber(of path: String, _ files: DriverFiles) throws(BoardError) -> Double {
        let bytes = try files.content(of: path)
        guard let number = DriverNumber.parse(bytes.prefix { $0 != UInt8(ascii: " ") }) else {
            throw malformed(path, bytes, files)
        }
        return number
    }

    private static func availableMemory(_ files: DriverFiles) throws(BoardError) -> Double {
        let path = "/proc/meminfo"
        let bytes = try files.content(of: path)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.first?.elementsEqual("MemAvailable:".utf8) == true else { continue }
            guard words.count == 3, words[2].elementsEqual("kB".utf8), let kibibytes = DriverNumber.parse(words[1])
            else { throw malformed(path, line, files) }
            return kibibytes * 1024
        }
        throw BoardError.metricAbsent(sensor: files.sensor, place: "MemAvailable in \(path)")
    }

    private static func freeBytes(at path: String, _ files: DriverFiles) throws(BoardError) -> Double {
        var status = statvfs()
        guard statvfs(files.machine.path(path), &status) == 0 else {
            let error = Errno(errno)
            guard error.code != ENOENT else { throw BoardError.metricAbsent(sensor: files.sensor, place: path) }
            throw BoardError.sensorUnreadable(sensor: files.sensor, path: path, reason: error.description)
        }
        return Double(status.f_bavail) * Double(status.f_frsize)
    }

    private static func busyPercent(
        _ files: DriverFiles, _ processor: inout ProcessorUse
    ) throws(BoardError) -> Double {
        let path = "/proc/stat"
        // It has a line for each processor, and one with a number for each interrupt.
        let bytes = try files.content(of: path, limit: 1 << 20)
        guard let percent = processor.percent(after: bytes) else { throw malformed(path, bytes, files) }
        return percent
    }

    /// Of the first of these interfaces that is there, or of the first one at all that has one in dBm.
    private static func signal(of interfaces: [String], _ files: DriverFiles) throws(BoardError) -> Double {
        let path = "/proc/net/wireless"
        let present = WirelessSignal.parse(try files.content(of: path))
        if interfaces.isEmpty {
            for case (_, .level(let level)) in present { return level }
        }
        for name in interfaces {
            guard let found = present.first(where: { $0.interface == name }) else { continue }
            switch found.signal {
            case .level(let level): return level
            case .disconnected:
                throw BoardError.sensorUnreadable(sensor: files.sensor, path: path, reason: "\(name) is not connected")
            case .unknownUnit:
                throw BoardError.sensorUnreadable(
                    sensor: files.sensor, path: path, reason: "the driver of \(name) does not give its signal in dBm")
            }
        }
        let place = interfaces.isEmpty ? "wireless connection" : interfaces.joined(separator: " or ")
        throw BoardError.metricAbsent(sensor: files.sensor, place: "\(place) in \(path)")
    }

    /// From the driver of a Raspberry Pi's firmware, `/sys/devices/platform/soc/soc:firmware/get_throttled`, whose
    /// folders have other names on other models. It writes a hexadecimal number, whose bit 1 is set while the
    /// processor's frequency is capped, bit 2 while it is throttled, and bit 3 while the soft limit of its temperature
    /// is in force.
    private static func throttled(_ files: DriverFiles) throws(BoardError) -> Double {
        let platform = "/sys/devices/platform"
        let file = "soc:firmware/get_throttled"
        let inside = files.machine.names(in: platform, startingWith: "soc").flatMap { soc in
            files.machine.names(in: "\(platform)/\(soc)").filter { $0.hasSuffix(":firmware") }.map {
                "\(platform)/\(soc)/\($0)/get_throttled"
            }
        }
        guard let path = inside.first else {
            throw BoardError.metricAbsent(sensor: files.sensor, place: "\(platform)/soc/\(file)")
        }
        let bytes = try files.content(of: path, limit: DriverNumber.limit)
        let digits = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard let flags = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw malformed(path, bytes, files)
        }
        return flags & 0b1110 == 0 ? 0 : 1
    }

    private static func malformed(_ path: String, _ bytes: some Collection<UInt8>, _ files: DriverFiles) -> BoardError {
        .sensorMalformed(sensor: files.sensor, path: path, text: DriverNumber.excerpt(bytes))
    }
}
