import Dispatch
import Glibc
import Groundwork

/// A keypad that the kernel shows as an input device. It is open, and then held alone, only while something is asked.
public struct Keypad: Sendable {
    /// What a person entered.
    public enum Entry: Sendable, Equatable {
        /// In ASCII; at least one.
        case digits([UInt8])
        /// The key to cancel was pressed.
        case refused
    }

    /// `EVIOCGVERSION` and `EVIOCGRAB` of linux/input.h.
    private static let versionRequest: UInt = 0x8004_4501
    private static let grabRequest: UInt = 0x4004_4590
    private static let eventsPerRead = 64

    private let path: String

    /// - Parameter path: such as `/dev/input/by-path/platform-keypad-event`.
    public init(path: String) { self.path = path }

    /// Waits until somebody has entered something. No other program sees the keys meanwhile.
    ///
    /// - Throws: ``BoardError/keypadFailed(path:reason:)``, `CancellationError`
    public func entry() async throws -> Entry {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        try hold(descriptor)
        return try await entry(from: descriptor)
    }

    /// Checks that it is an input device, and has its keys come here alone. Closing ends that.
    private func hold(_ descriptor: Int32) throws(BoardError) {
        var version: Int32 = 0
        guard ioctl(descriptor, Self.versionRequest, &version) == 0 else { throw failed("it is not an input device") }
        guard ioctl(descriptor, Self.grabRequest, 1) == 0 else { throw failure(errno) }
    }

    /// - Parameter descriptor: does not wait.
    func entry(from descriptor: Int32) async throws -> Entry {
        var entry = KeypadEntry()
        var buffer = [UInt8](repeating: 0, count: KeyEvent.byteCount * Self.eventsPerRead)
        while true {
            await firstEvent(of: { DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global()) })
            try Task.checkCancellation()
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? failure(errno) : failed("it is gone") }
            guard let events = KeyEvent.all(in: buffer.prefix(count)) else {
                throw failed("it sends something else than the kernel's events")
            }
            for event in events {
                switch entry.receive(event) {
                case .nothing: continue
                case .entered(let digits): return .digits(digits)
                case .refused: return .refused
                }
            }
        }
    }

    private func failure(_ error: Int32) -> BoardError { failed(Errno(error).description) }

    private func failed(_ reason: String) -> BoardError { .keypadFailed(path: path, reason: reason) }
}
