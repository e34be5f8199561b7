import Dispatch
import Glibc
import Groundwork

/// An input device of Linux (evdev), open for as long as this object lives.
final class InputDevice: Sendable {
    /// Why an input device cannot be used.
    struct Fault: Error, Equatable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
        fileprivate init(_ error: CInt) { reason = Errno(error).description }
    }

    /// `EVIOCGVERSION` and `EVIOCGRAB` of linux/input.h.
    private static let versionRequest: UInt = 0x8004_4501
    private static let grabRequest: UInt = 0x4004_4590
    /// `EVIOCSCLOCKID`, and `EVIOCGKEY` for as many bytes as all keys have bits.
    private static let clockRequest: UInt = 0x4004_45A0
    private static let keyBytes = 96
    private static let keysRequest = 0x8000_4518 | UInt(keyBytes) << 16
    private static let eventsPerRead = 64

    let descriptor: Int32

    /// - Parameter isHeld: whether no other program gets its keys; closing ends that.
    init(_ path: String, isHeld: Bool) throws(Fault) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Fault(errno) }
        var version: Int32 = 0
        guard ioctl(descriptor, Self.versionRequest, &version) == 0 else { throw Fault("it is not an input device") }
        guard !isHeld || ioctl(descriptor, Self.grabRequest, 1) == 0 else { throw Fault(errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The keys that are down.
    func keysDown() -> Set<UInt16> {
        var bits = [UInt8](repeating: 0, count: Self.keyBytes)
        guard ioctl(descriptor, Self.keysRequest, &bits) >= 0 else { return [] }
        return Set((0..<UInt16(8 * Self.keyBytes)).filter { bits[Int($0 / 8)] & 1 << ($0 % 8) != 0 })
    }

    /// Has its events dated by the clock of ``MonotonicClock``.
    func useMonotonicClock() throws(Fault) {
        var clock = CLOCK_MONOTONIC
        guard ioctl(descriptor, Self.clockRequest, &clock) == 0 else { throw Fault(errno) }
    }

    /// The events that have come, without blocking.
    func pendingEvents() throws(Fault) -> [KeyEvent] { try Self.pendingEvents(of: descriptor) ?? [] }

    /// - Returns: `nil` if none has come.
    private static func pendingEvents(of descriptor: Int32) throws(Fault) -> [KeyEvent]? {
        var buffer = [UInt8](repeating: 0, count: KeyEvent.byteCount * Self.eventsPerRead)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else { throw count < 0 ? Fault(errno) : Fault("it was removed") }
        guard let events = KeyEvent.all(in: buffer.prefix(count)) else {
            throw Fault("it sends something other than kernel events")
        }
        return events
    }

    /// The device file of an input device.
    ///
    /// - Parameter name: as `/proc/bus/input/devices` shows it, or the path of a device file.
    static func path(of name: String, on machine: Machine) throws(Fault) -> String {
        guard !name.hasPrefix("/") else { return name }
        for event in machine.names(in: "/sys/class/input", startingWith: "event") {
            let file = machine.path("/sys/class/input/\(event)/device/name")
            guard let bytes = try? BoundedFile.read(file, limit: 4096) else { continue }
            if String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) == name {
                return machine.path("/dev/input/\(event)")
            }
        }
        throw Fault("no input device has this name")
    }

    /// Waits for the next events.
    ///
    /// - Parameter descriptor: does not block.
    /// - Throws: ``Fault``, `CancellationError`
    static func events(from descriptor: Int32) async throws -> [KeyEvent] {
        while true {
            await firstEvent(of: { DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global()) })
            try Task.checkCancellation()
            if let events = try pendingEvents(of: descriptor) { return events }
        }
    }
}
