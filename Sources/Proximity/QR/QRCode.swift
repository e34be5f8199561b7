import CQREncode

/// A QR code (ISO/IEC 18004) of a text, byte for byte.
public struct QRCode: Sendable, Equatable {
    /// How much of the code may be unreadable, from 7 to 30 percent.
    public enum Correction: String, Sendable, CaseIterable {
        case low = "L"
        case medium = "M"
        case quartile = "Q"
        case high = "H"

        fileprivate var level: QRecLevel {
            switch self {
            case .low: QR_ECLEVEL_L
            case .medium: QR_ECLEVEL_M
            case .quartile: QR_ECLEVEL_Q
            case .high: QR_ECLEVEL_H
            }
        }
    }

    /// The maximum number of bytes in a code, at the lowest correction.
    public static let limit = 2953
    /// The width of the light margin that readers need, in modules.
    public static let margin = 4

    /// Modules per side, without the margin.
    public let width: Int
    public let correction: Correction
    private let dark: [Bool]

    /// Uses the highest correction with which the text fits.
    ///
    /// - Parameter columns: the available width in modules, including the margin on both sides; a lower correction
    ///   gives a smaller code. If even the smallest code is too wide, it is created nevertheless.
    /// - Throws: ``ProximityError/textTooLongForQRCode(bytes:)``, also for an empty text and one with a zero byte
    public init(_ text: String, fitting columns: Int = .max) throws(ProximityError) {
        let bytes = Array(text.utf8)
        guard (1...Self.limit).contains(bytes.count), !bytes.contains(0) else {
            throw .textTooLongForQRCode(bytes: bytes.count)
        }
        var smallest: QRCode?
        for correction in Correction.allCases.reversed() {
            guard let code = QRCode(bytes, correction) else { continue }
            smallest = code
            if code.fullWidth <= columns { break }
        }
        guard let smallest else { throw .textTooLongForQRCode(bytes: bytes.count) }
        self = smallest
    }

    private init?(_ bytes: [UInt8], _ correction: Correction) {
        guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, correction.level) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        self.correction = correction
        // The lowest bit of each byte is 1 for dark.
        dark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Modules per side, with the margin.
    public var fullWidth: Int { width + 2 * Self.margin }

    /// Whether the module is dark; modules outside are light.
    public func isDark(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && dark[row * width + column]
    }
}
