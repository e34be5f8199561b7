import Glibc
import Groundwork

/// Reads the numbers that drivers write, for one sensor.
struct DriverFiles {
    /// The sensor's name, for errors.
    let sensor: String
    let machine: Machine

    /// - Returns: `nil` if there is no such file.
    /// - Throws: ``BoardError/sensorSilent(sensor:path:)``, ``BoardError/sensorMalformed(sensor:path:text:)`` or
    ///   ``BoardError/sensorUnreadable(sensor:path:reason:)``
    func numberIfThere(in path: String) throws(BoardError) -> Double? {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(machine.path(path), limit: DriverNumber.limit)
        } catch .system(Errno(ENOENT)), .system(Errno(ENODEV)) {
            return nil
        } catch .tooLong(let limit) {
            throw BoardError.sensorMalformed(sensor: sensor, path: path, text: "more than \(limit) bytes")
        } catch {
            throw BoardError.sensorUnreadable(sensor: sensor, path: path, reason: error.description)
        }
        guard !DriverNumber.isBlank(bytes) else { throw BoardError.sensorSilent(sensor: sensor, path: path) }
        guard let number = DriverNumber.parse(bytes) else {
            throw BoardError.sensorMalformed(sensor: sensor, path: path, text: DriverNumber.excerpt(bytes))
        }
        return number
    }

    /// The number in the first of these files that is there, and which one that is.
    func firstNumber(in paths: [String]) throws(BoardError) -> (number: Double, path: String)? {
        for path in paths {
            if let number = try numberIfThere(in: path) { return (number, path) }
        }
        return nil
    }

    /// The content of a file that may be missing, or that its driver cannot fill; `nil` then.
    func contentIfThere(of path: String) -> [UInt8]? {
        try? BoundedFile.read(machine.path(path), limit: DriverNumber.limit)
    }

    /// The content of a file of the kernel's own, such as `/proc/stat`.
    ///
    /// - Throws: ``BoardError/metricAbsent(sensor:place:)``, ``BoardError/sensorSilent(sensor:path:)`` or
    ///   ``BoardError/sensorUnreadable(sensor:path:reason:)``
    func content(of path: String, limit: Int = 16_384) throws(BoardError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(machine.path(path), limit: limit)
        } catch .system(Errno(ENOENT)) {
            throw BoardError.metricAbsent(sensor: sensor, place: path)
        } catch {
            throw BoardError.sensorUnreadable(sensor: sensor, path: path, reason: error.description)
        }
        guard !bytes.isEmpty else { throw BoardError.sensorSilent(sensor: sensor, path: path) }
        return bytes
    }
}
