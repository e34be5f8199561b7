import CQREncode

/// A QR code (ISO/IEC 18004) of a text, error correction L: enrollment URLs are long, and screens need little error
/// correction.
public struct QRCode: Sendable, Equatable {
    /// Modules a side.
    public let width: Int
    private let dark: [Bool]
    /// Light modules around the code that readers need.
    private static let margin = 4

    /// - Returns: `nil` when the text is empty or longer than a QR code holds (2953 bytes).
    public init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of each byte means dark or light.
        dark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Whether the module is dark; modules outside are light.
    public func isDark(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && dark[row * width + column]
    }

    /// Black on white, whatever the colors of the surrounding page.
    public var svg: String {
        let side = width + 2 * Self.margin
        var path = ""
        for row in 0..<width {
            for column in 0..<width where isDark(row: row, column: column) {
                path += "M\(column + Self.margin) \(row + Self.margin)h1v1h-1z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" role="img" \
            aria-label="QR code of the enrollment URL" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }

    /// For a terminal: two rows per line in half blocks.
    /// - Parameter colored: black on white by escape sequences; otherwise the blocks are the light modules, for light
    ///   text on a dark background.
    public func terminalText(colored: Bool) -> String {
        var lines: [String] = []
        for row in stride(from: -Self.margin, to: width + Self.margin, by: 2) {
            var line = colored ? "\u{1B}[38;5;16;48;5;231m" : ""
            for column in -Self.margin..<(width + Self.margin) {
                let (upper, lower) = (isDark(row: row, column: column), isDark(row: row + 1, column: column))
                switch (upper == colored, lower == colored) {
                case (true, true): line += "█"
                case (true, false): line += "▀"
                case (false, true): line += "▄"
                case (false, false): line += " "
                }
            }
            lines.append(line + (colored ? "\u{1B}[0m" : ""))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
