/// A keypad that the kernel shows as an input device. It is open, and then held alone, only while something is asked.
public struct Keypad: Sendable {
    /// What a person entered.
    public enum Entry: Sendable, Equatable {
        /// In ASCII; at least one.
        case digits([UInt8])
        /// The key to cancel was pressed.
        case refused
    }

    private let path: String

    /// - Parameter path: such as `/dev/input/by-path/platform-keypad-event`.
    public init(path: String) { self.path = path }

    /// Waits until a person has entered something. No other program sees the keys meanwhile.
    ///
    /// - Throws: ``BoardError/keypadFailed(path:reason:)``, `CancellationError`
    public func entry() async throws -> Entry {
        do {
            let device = try InputDevice(path, isHeld: true)
            defer { withExtendedLifetime(device) {} }
            return try await entry(from: device.descriptor)
        } catch let fault as InputDevice.Fault {
            throw BoardError.keypadFailed(path: path, reason: fault.reason)
        }
    }

    /// - Parameter descriptor: does not wait.
    func entry(from descriptor: Int32) async throws -> Entry {
        var entry = KeypadEntry()
        while true {
            for event in try await keyEvents(from: descriptor) {
                switch entry.receive(event) {
                case .nothing: continue
                case .entered(let digits): return .digits(digits)
                case .refused: return .refused
                }
            }
        }
    }

    private func keyEvents(from descriptor: Int32) async throws -> [KeyEvent] {
        do {
            return try await InputDevice.events(from: descriptor)
        } catch let fault as InputDevice.Fault {
            throw BoardError.keypadFailed(path: path, reason: fault.reason)
        }
    }
}
