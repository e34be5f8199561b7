import Glibc
import Groundwork

/// An LED that a driver of the kernel shows in `/sys/class/leds`. While this object lives, the kernel's own trigger,
/// such as a heartbeat, does not work it.
final class ClassLED: OutputLine {
    private let name: String
    private let folder: String
    private let most: String
    private let trigger: String?

    /// - Throws: ``BoardError/partAbsent(_:names:)``, ``BoardError/partFailed(_:name:reason:)``
    init(names: [String], on machine: Machine) throws(BoardError) {
        (name, folder) = try Self.find(names, on: machine)
        most = Self.read("\(folder)/max_brightness").flatMap(Int.init).map(String.init) ?? "1"
        // Every trigger there is, the one in use in brackets.
        trigger = Self.read("\(folder)/trigger")?.split(separator: " ").first { $0.hasPrefix("[") && $0.hasSuffix("]") }
            .map { String($0.dropFirst().dropLast()) }
        if let trigger, trigger != "none" { try write("none", to: "trigger") }
    }

    deinit { if let trigger, trigger != "none" { try? write(trigger, to: "trigger") } }

    /// The first of these LEDs that is there; it has to be writable.
    static func find(_ names: [String], on machine: Machine) throws(BoardError) -> (name: String, folder: String) {
        for name in names {
            let folder = machine.path("/sys/class/leds/\(name)")
            guard access(folder, F_OK) == 0 else { continue }
            guard access("\(folder)/brightness", W_OK) == 0 else {
                throw .partFailed(.led, name: name, reason: Errno(errno).description)
            }
            return (name, folder)
        }
        throw .partAbsent(.led, names: names)
    }

    func set(active: Bool) throws(BoardError) { try write(active ? most : "0", to: "brightness") }

    private func write(_ text: String, to file: String) throws(BoardError) {
        let descriptor = open("\(folder)/\(file)", O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw failure() }
    }

    private func failure() -> BoardError { .partFailed(.led, name: name, reason: Errno(errno).description) }

    private static func read(_ path: String) -> String? {
        guard let bytes = try? BoundedFile.read(path, limit: 4096) else { return nil }
        return String(validating: bytes, as: UTF8.self)?.trimmed
    }
}
