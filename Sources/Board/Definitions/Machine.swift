import Glibc
import Groundwork

/// The machine the agent runs on, as `/proc`, `/sys` and `/dev` show it.
public struct Machine: Sendable {
    /// The folder that contains these; a different one in tests.
    public let root: String
    /// What went over the network this month, as far as anybody counts it.
    let traffic: @Sendable () -> MonthlyTraffic?

    /// - Parameters:
    ///   - root: without a trailing slash; empty for the machine itself.
    ///   - traffic: `nil` while it is not known.
    public init(root: String = "", traffic: @escaping @Sendable () -> MonthlyTraffic? = { nil }) {
        self.root = root
        self.traffic = traffic
    }

    /// The board's model according to its device tree; `nil` if there is none, as on PCs.
    public var model: String? {
        guard let bytes = try? BoundedFile.read(path("/proc/device-tree/model"), limit: 256) else { return nil }
        // A device tree's strings end with a zero.
        return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The serial number that the firmware gives the board in its device tree (Devicetree specification, section 2.3.7,
    /// and the Raspberry Pi's firmware); `nil` if there is none, or one of zeros alone, as on boards that were never
    /// given one.
    ///
    /// Unlike `/etc/machine-id` it is not on the card, so a copy of the card does not have it.
    public var serialNumber: String? {
        let place = path("/sys/firmware/devicetree/base/serial-number")
        guard let bytes = try? BoundedFile.read(place, limit: 256),
            let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        else { return nil }
        let serial = String(DisplayText.clean(text).trimming { $0 == " " })
        return serial.allSatisfy { $0 == "0" } ? nil : serial
    }

    func path(_ absolute: String) -> String { root + absolute }

    /// Where a path leads when all links are followed; `nil` if it leads nowhere.
    func resolved(_ absolute: String) -> String? {
        guard let resolved = realpath(path(absolute), nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Names in a folder, with numbers in numeric order; empty if there is no such folder.
    func names(in folder: String, startingWith prefix: String = "") -> [String] {
        guard let directory = opendir(path(folder)) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(prefix), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }
}
