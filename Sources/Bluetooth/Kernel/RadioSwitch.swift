import CBluetooth
import Glibc

/// The kernel's switch for an adapter's radio, in software or by a hardware key (`rfkill`).
enum RadioSwitch {
    enum State: Equatable { case open, blockedBySoftware, blockedByHardware }

    /// - Parameter devices: where the kernel lists Bluetooth adapters.
    static func state(of adapter: String, devices: String = "/sys/class/bluetooth") -> State {
        let folder = "\(devices)/\(adapter)"
        guard let names = entries(of: folder) else { return .open }
        var state = State.open
        for name in names where name.hasPrefix("rfkill") {
            if flag("\(folder)/\(name)/hard") { return .blockedByHardware }
            if flag("\(folder)/\(name)/soft") { state = .blockedBySoftware }
        }
        return state
    }

    /// Calls `changed` on the queue when any radio is blocked or unblocked; returns `nil` if the kernel has no such
    /// switches, or they may not be read.
    static func watch(on queue: BluetoothQueue, changed: @escaping @Sendable () -> Void) -> Descriptor.Watch? {
        let number = open("/dev/rfkill", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(number)
        // The content of the reports does not matter: the state is read from sysfs. The first reports list the
        // present switches.
        while case .bytes = descriptor.read(limit: 64) {}
        return descriptor.watch(on: queue) {
            while case .bytes = descriptor.read(limit: 64) {}
            changed()
        }
    }

    private static func entries(of folder: String) -> [String]? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    private static func flag(_ path: String) -> Bool {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return false }
        guard case .bytes(let bytes) = Descriptor(number).read(limit: 8) else { return false }
        return bytes.first == UInt8(ascii: "1")
    }
}
