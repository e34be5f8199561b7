import Groundwork

/// A class of the kernel's devices in which one is found by its name, as its number is a matter of chance.
enum DeviceClass {
    case hwmon, iio, thermal

    var noun: String {
        switch self {
        case .hwmon: "hwmon device"
        case .iio: "IIO device"
        case .thermal: "thermal zone"
        }
    }

    private var folder: String {
        switch self {
        case .hwmon: "/sys/class/hwmon"
        case .iio: "/sys/bus/iio/devices"
        case .thermal: "/sys/class/thermal"
        }
    }

    private var prefix: String {
        switch self {
        case .hwmon: "hwmon"
        case .iio: "iio:device"
        case .thermal: "thermal_zone"
        }
    }

    /// The folders of its devices, in the order of their numbers.
    func folders(on machine: Machine) -> [String] {
        machine.names(in: folder, startingWith: prefix).map { "\(folder)/\($0)" }
    }

    /// The name of a folder's device; `nil` if it is gone.
    func name(of folder: String, on machine: Machine) -> String? {
        let file = self == .thermal ? "type" : "name"
        guard let bytes = try? BoundedFile.read(machine.path("\(folder)/\(file)"), limit: 256) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Whether the device of a folder is the one with this name on its bus, or a part of it: a chip of several
    /// functions has a device of its own for each, below the one on the bus.
    func isOn(_ bus: String, _ folder: String, on machine: Machine) -> Bool {
        // A hwmon folder links to its device; an IIO device is itself a folder inside its device's.
        ["\(folder)/device", "\(folder)/.."].contains { link in
            machine.resolved(link)?.split(separator: "/").contains(Substring(bus)) == true
        }
    }
}
