/// Assigned numbers of the generic attribute profile (Bluetooth Core, Vol 3 Part G 3.4 and Part C 12).
enum GATTNumber {
    static let genericAccess: UInt16 = 0x1800
    static let genericAttribute: UInt16 = 0x1801
    static let primaryService: UInt16 = 0x2800
    static let secondaryService: UInt16 = 0x2801
    static let characteristic: UInt16 = 0x2803
    static let configuration: UInt16 = 0x2902
    static let deviceName: UInt16 = 0x2A00
    static let appearance: UInt16 = 0x2A01
    static let serviceChanged: UInt16 = 0x2A05
}
