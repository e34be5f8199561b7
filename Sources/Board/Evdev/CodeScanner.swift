/// A scanner of QR codes that types what it reads, as a keyboard does; most of those with a USB plug do.
public struct CodeScanner: Sendable {
    /// What it has read.
    public enum Scan: Sendable, Equatable {
        /// Printable ASCII of bounded length; at least one character.
        case text(String)
        /// A code of more than 4096 characters.
        case tooLong
        /// The rest of a code that lost something, as it was typed faster than it was read.
        case incomplete
    }

    private let name: String
    private let machine: Machine

    /// - Parameter name: as `/proc/bus/input/devices` shows it, or the path of a device file.
    public init(name: String, on machine: Machine = Machine()) {
        self.name = name
        self.machine = machine
    }

    /// Passes on what it reads until canceled. No other program sees the keys meanwhile.
    ///
    /// - Parameter onReady: called once it is open.
    /// - Throws: ``BoardError/scannerFailed(name:reason:)``, `CancellationError`
    public func run(onReady: () -> Void, _ onScan: (Scan) -> Void) async throws {
        do {
            let device = try InputDevice(try InputDevice.path(of: name, on: machine), isHeld: true)
            defer { withExtendedLifetime(device) {} }
            onReady()
            try await read(from: device.descriptor, onScan)
        } catch let fault as InputDevice.Fault {
            throw BoardError.scannerFailed(name: name, reason: fault.reason)
        }
    }

    /// - Parameter descriptor: does not wait.
    func read(from descriptor: Int32, _ onScan: (Scan) -> Void) async throws {
        var text = TypedText()
        while true {
            for event in try await InputDevice.events(from: descriptor) {
                switch text.receive(event) {
                case .nothing: continue
                case .line(let line): onScan(.text(line))
                case .tooLong: onScan(.tooLong)
                case .incomplete: onScan(.incomplete)
                }
            }
        }
    }
}
