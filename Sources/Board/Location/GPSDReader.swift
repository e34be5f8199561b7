import Groundwork

/// Reads what gpsd writes, piece by piece (gpsd_json(5)): JSON objects in lines; the first introduces it.
/// Pure.
struct GPSDReader {
    /// The longest line, in bytes; gpsd's own buffer has 10240.
    static let lineLimit = 16 << 10

    /// Tells gpsd to report.
    static let request = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)

    enum Outcome: Equatable {
        case nothing
        case fix(GPSFix)
        /// It is not gpsd.
        case refused(reason: String)
    }

    private var line: [UInt8] = []
    private var isIntroduced = false

    /// - Returns: the first fix in these bytes, if there is one.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> Outcome {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                guard line.count < Self.lineLimit else { return .refused(reason: "it sends lines without an end") }
                line.append(byte)
                continue
            }
            let outcome = read(line)
            line.removeAll(keepingCapacity: true)
            if outcome != .nothing { return outcome }
        }
        return .nothing
    }

    private mutating func read(_ line: [UInt8]) -> Outcome {
        guard let report = try? JSON(parsing: line, limit: Self.lineLimit), let kind = report["class"]?.string else {
            return .refused(reason: "it sends something other than gpsd's reports")
        }
        guard isIntroduced || kind == "VERSION" else { return .refused(reason: "it does not identify itself") }
        isIntroduced = true
        // Only modes 2 and 3 are fixes; 0 and 1 are not, with or without numbers.
        guard kind == "TPV", let mode = report["mode"]?.integer, (2...3).contains(mode),
            let latitude = report["lat"]?.number, let longitude = report["lon"]?.number,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return .nothing }
        return .fix(GPSFix(latitude: latitude, longitude: longitude))
    }
}
