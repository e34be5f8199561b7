import FoundationEssentials
import Glibc
import Proximity

/// A QR code on a terminal.
enum QRText {
    /// - Throws: `ProximityError` when the terminal is too narrow.
    static func show(_ text: String, light: Bool) throws {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = isKnown ? Int(size.ws_col) : 80
        Terminal.line(try QRCode(text, fitting: columns).terminalText(light ? .light : .dark, columns: columns))
        Terminal.line(text)
    }
}
