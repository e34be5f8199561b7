import CGPIOD
import Glibc
import Groundwork

/// An open GPIO chip. Closed with its owner.
struct GPIOChip: ~Copyable {
    /// As the definition names it: its label, or the path of its device.
    let label: String
    let handle: OpaquePointer

    /// Opens the chip with this label, or of the device at this path where it begins with a slash: the chip's number
    /// depends on the kernel's version and on chance.
    ///
    /// - Throws: ``BoardError/chipAbsent(label:present:)``, ``BoardError/chipForbidden(path:)`` or
    ///   ``BoardError/lineFailed(operation:chip:reason:)``
    init(labeled label: String, on machine: Machine) throws(BoardError) {
        var present: [String] = []
        var forbidden: String?
        for name in machine.names(in: "/dev", startingWith: "gpiochip") {
            let path = machine.path("/dev/\(name)")
            var opened: OpaquePointer?
            let error = latchkey_chip_open(path, &opened)
            if error == EACCES || error == EPERM { forbidden = path }
            guard error == 0, let handle = opened else { continue }
            let found = Self.label(of: handle)
            if label.hasPrefix("/") ? Self.isOf(label, name, on: machine) : found == label {
                self.label = label
                self.handle = handle
                return
            }
            gpiod_chip_close(handle)
            present.append(found)
        }
        if let forbidden { throw BoardError.chipForbidden(path: forbidden) }
        throw BoardError.chipAbsent(label: label, present: present)
    }

    deinit { gpiod_chip_close(handle) }

    /// - Throws: ``BoardError/lineAbsent(chip:line:)``
    func offset(of line: LineSelector) throws(BoardError) -> UInt32 {
        switch line {
        case .offset(let offset):
            var count: UInt32 = 0
            guard latchkey_chip_line_count(handle, &count) == 0, offset < count else {
                throw BoardError.lineAbsent(chip: label, line: line)
            }
            return offset
        case .name(let name):
            var offset: UInt32 = 0
            guard latchkey_chip_find_line(handle, name, &offset) == 0 else {
                throw BoardError.lineAbsent(chip: label, line: line)
            }
            return offset
        }
    }

    /// The name of the line's holder; `nil` if the line is free, empty if the holder has no name.
    func consumer(of offset: UInt32) throws(BoardError) -> String? {
        var state = latchkey_line_state()
        let error = latchkey_chip_describe_line(handle, offset, &state)
        guard error == 0 else {
            throw BoardError.lineFailed(
                operation: "describe line \(offset)", chip: label, reason: Errno(error).description)
        }
        guard state.is_used else { return nil }
        return withUnsafeBytes(of: &state.consumer) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Whether a chip is the one of a device, such as `/sys/devices/platform/soc/fe200000.gpio`. Several chips can have
    /// one label, as expanders of one type have.
    static func isOf(_ device: String, _ chip: String, on machine: Machine) -> Bool {
        // The chip is a folder inside its device's, and its number is no part of the device's path.
        guard let wanted = machine.resolved(device) else { return false }
        let link = "/sys/bus/gpio/devices/\(chip)"
        return machine.resolved("\(link)/..") == wanted || machine.resolved(link) == wanted
    }

    private static func label(of handle: OpaquePointer) -> String {
        var label = [CChar](repeating: 0, count: 32)
        guard latchkey_chip_label(handle, &label) == 0 else { return "" }
        return label.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
