extension QRCode {
    /// The colors of a terminal.
    public enum ColorScheme: String, Sendable, CaseIterable {
        /// Light text on a dark background.
        case dark
        /// Dark text on a light background.
        case light
    }

    /// The code in half blocks, two rows per line. It has no escape sequences, so it is also readable in a log or over
    /// a serial line.
    ///
    /// - Throws: ``ProximityError/qrCodeTooWide(columns:available:)``
    public func terminalText(_ scheme: ColorScheme, columns: Int) throws(ProximityError) -> String {
        guard fullWidth <= columns else { throw .qrCodeTooWide(columns: fullWidth, available: columns) }
        var text = ""
        for row in stride(from: -Self.margin, to: width + Self.margin, by: 2) {
            for column in -Self.margin..<(width + Self.margin) {
                // Print the modules that differ from the background.
                let upper = isDark(row: row, column: column) == (scheme == .light)
                let isLast = row + 1 == width + Self.margin
                let lower = !isLast && isDark(row: row + 1, column: column) == (scheme == .light)
                switch (upper, lower) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += "\n"
        }
        return text
    }
}
