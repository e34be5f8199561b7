/// The signal of the wireless interfaces, as the kernel writes it to `/proc/net/wireless`.
enum WirelessSignal: Equatable {
    /// In dBm.
    case level(Double)
    /// The interface is not connected.
    case disconnected
    /// The driver gives a number of its own.
    case unknownUnit

    /// The signal of each interface, in the order of the file:
    ///
    ///     Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
    ///      face | tus | link level noise |  nwid  crypt  frag  retry   misc  | beacon | 22
    ///      wlan0: 0000   62.  -48.  -256        0      0      0      0      0        0
    ///
    /// A level in dBm is negative; a driver with another unit has it from 0 to 255. Without a connection it is 0, or
    /// -256 (`wireless_seq_printf_stats` in net/wireless/wext-proc.c).
    static func parse(_ bytes: [UInt8]) -> [(interface: String, signal: WirelessSignal)] {
        bytes.split(separator: UInt8(ascii: "\n")).dropFirst(2).compactMap { line in
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }
            guard words.count > 3 else { return nil }
            // A point marks a number that is new.
            let text = words[3].last == UInt8(ascii: ".") ? words[3].dropLast() : words[3]
            guard let level = DriverNumber.parse(text) else { return nil }
            let name = String(decoding: words[0], as: UTF8.self)
            return switch level {
            case ...(-256), 0: (name, .disconnected)
            case ..<0: (name, .level(level))
            default: (name, .unknownUnit)
            }
        }
    }
}
