/// One event of a Linux input device, as read (`struct input_event` of linux/input.h). Pure.
struct KeyEvent: Equatable {
    /// Its time comes first, in two words of the machine.
    static let byteCount = 2 * MemoryLayout<Int>.size + 8

    private static let synchronization: UInt16 = 0
    private static let key: UInt16 = 1
    private static let lastType: UInt16 = 0x1F
    private static let lastKey: UInt16 = 0x2FF
    private static let dropped: UInt16 = 3

    /// When it happened, by the device's clock, in seconds and microseconds.
    let seconds: Int
    let microseconds: Int
    let type: UInt16
    let code: UInt16
    let value: Int32

    var time: Duration { .seconds(Int64(seconds)) + .microseconds(Int64(microseconds)) }
    /// A key that went down; holding it repeats nothing.
    var pressed: UInt16? { type == Self.key && value == 1 ? code : nil }
    /// A key that went down or up; `nil` while it is held.
    var key: (code: UInt16, isDown: Bool)? { type == Self.key && value != 2 ? (code, value == 1) : nil }
    /// Whether the kernel had to drop events before this one.
    var saysDropped: Bool { type == Self.synchronization && code == Self.dropped }

    /// - Returns: `nil` unless the bytes are whole events of the kernel's.
    static func all(in bytes: some Collection<UInt8>) -> [KeyEvent]? {
        let bytes = Array(bytes)
        guard bytes.count % byteCount == 0 else { return nil }
        var events: [KeyEvent] = []
        for start in stride(from: 0, to: bytes.count, by: byteCount) {
            let word = MemoryLayout<Int>.size
            let event = bytes[start..<(start + byteCount)].withUnsafeBytes {
                KeyEvent(
                    seconds: $0.loadUnaligned(as: Int.self),
                    microseconds: $0.loadUnaligned(fromByteOffset: word, as: Int.self),
                    type: $0.loadUnaligned(fromByteOffset: 2 * word, as: UInt16.self),
                    code: $0.loadUnaligned(fromByteOffset: 2 * word + 2, as: UInt16.self),
                    value: $0.loadUnaligned(fromByteOffset: 2 * word + 4, as: Int32.self))
            }
            guard event.type <= lastType else { return nil }
            if event.type == key { guard event.code <= lastKey, (0...2).contains(event.value) else { return nil } }
            events.append(event)
        }
        return events
    }
}
