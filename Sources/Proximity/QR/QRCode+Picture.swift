extension QRCode {
    /// The maximum width and height of a picture, in pixels.
    public static let pictureLimit = 2048

    /// The code as a vector picture in SVG, black on white.
    public var svg: String {
        var path = ""
        for row in 0..<width {
            for column in 0..<width where isDark(row: row, column: column) {
                path += "M\(column + Self.margin) \(row + Self.margin)h1v1h-1z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(fullWidth) \(fullWidth)" role="img" \
            aria-label="QR code to log this device in" shape-rendering="crispEdges">\
            <rect width="\(fullWidth)" height="\(fullWidth)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }

    /// The code as PNG, black on white.
    ///
    /// - Parameter scale: pixels per module; fewer if the picture would exceed ``pictureLimit``.
    public func png(scale: Int = 8) -> [UInt8] {
        let scale = max(1, min(scale, Self.pictureLimit / fullWidth))
        var picture = PNGPicture(side: fullWidth * scale)
        for row in -Self.margin..<(width + Self.margin) {
            var line = [UInt8](repeating: 0xFF, count: (picture.side + 7) / 8)
            for column in 0..<width where isDark(row: row, column: column) {
                for pixel in ((column + Self.margin) * scale)..<((column + Self.margin + 1) * scale) {
                    line[pixel / 8] &= ~(0x80 >> UInt8(pixel % 8))
                }
            }
            for _ in 0..<scale { picture.append(line) }
        }
        return picture.bytes
    }
}
