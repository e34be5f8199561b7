import FoundationEssentials
import Glibc
import Groundwork
import Proximity

/// A QR code on a terminal.
enum QRText {
    /// - Throws: `ProximityError` when the terminal is too narrow.
    static func show(_ text: String, light: Bool) throws {
        let columns = TerminalWidth.columns(of: STDOUT_FILENO) ?? 80
        Terminal.line(try QRCode(text, fitting: columns).terminalText(light ? .light : .dark, columns: columns))
        Terminal.line(text)
    }
}
