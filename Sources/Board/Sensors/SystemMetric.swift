import Glibc
import Groundwork

extension SensorDefinition.SystemMetric {
    /// - Throws: ``BoardError`` of the sensor with this name.
    func read(for sensor: String, on machine: Machine) throws(BoardError) -> Double {
        switch self {
        case .load: return try Self.firstNumber(of: "/proc/loadavg", sensor, machine)
        case .uptime: return try Self.firstNumber(of: "/proc/uptime", sensor, machine)
        case .memoryAvailable: return try Self.availableMemory(sensor, machine)
        case .diskFree(let path): return try Self.freeBytes(at: path, sensor, machine)
        }
    }

    private static func firstNumber(of path: String, _ sensor: String, _ machine: Machine) throws(BoardError) -> Double
    {
        let bytes = try content(of: path, sensor, machine)
        guard let number = DriverNumber.parse(bytes.prefix { $0 != UInt8(ascii: " ") }) else {
            throw BoardError.sensorMalformed(sensor: sensor, path: path, text: DriverNumber.excerpt(bytes))
        }
        return number
    }

    private static func availableMemory(_ sensor: String, _ machine: Machine) throws(BoardError) -> Double {
        let path = "/proc/meminfo"
        let bytes = try content(of: path, sensor, machine)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.first?.elementsEqual("MemAvailable:".utf8) == true else { continue }
            guard words.count == 3, words[2].elementsEqual("kB".utf8), let kibibytes = DriverNumber.parse(words[1])
            else {
                throw BoardError.sensorMalformed(sensor: sensor, path: path, text: DriverNumber.excerpt(line))
            }
            return kibibytes * 1024
        }
        throw BoardError.sensorAbsent(sensor: sensor, place: "MemAvailable in \(path)")
    }

    private static func freeBytes(at path: String, _ sensor: String, _ machine: Machine) throws(BoardError) -> Double {
        var status = statvfs()
        guard statvfs(machine.path(path), &status) == 0 else {
            let error = Errno(errno)
            guard error.code != ENOENT else { throw BoardError.sensorAbsent(sensor: sensor, place: path) }
            throw BoardError.sensorUnreadable(sensor: sensor, path: path, reason: error.description)
        }
        return Double(status.f_bavail) * Double(status.f_frsize)
    }

    private static func content(of path: String, _ sensor: String, _ machine: Machine) throws(BoardError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(machine.path(path), limit: 16_384)
        } catch .system(Errno(ENOENT)) {
            throw BoardError.sensorAbsent(sensor: sensor, place: path)
        } catch {
            throw BoardError.sensorUnreadable(sensor: sensor, path: path, reason: error.description)
        }
        guard !bytes.isEmpty else { throw BoardError.sensorSilent(sensor: sensor, path: path) }
        return bytes
    }
}
