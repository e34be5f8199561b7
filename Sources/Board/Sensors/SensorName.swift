/// The name of a sensor, of a board's definition or of a program's own.
public enum SensorName {
    /// What ``isValid(_:)`` wants, for messages.
    public static let rule = "1 to 64 of a-z 0-9 . - _"

    public static func isValid(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
