import FoundationEssentials
import Glibc
import Groundwork
import Proximity

/// A QR code on a terminal.
enum QRText {
    /// - Parameter isAside: whether it goes to standard error, as standard output is for a program.
    /// - Throws: `ProximityError` when the terminal is too narrow.
    static func show(_ text: String, light: Bool, isAside: Bool = false) throws {
        let columns = TerminalWidth.columns(of: isAside ? STDERR_FILENO : STDOUT_FILENO) ?? 80
        let code = try QRCode(text, fitting: columns).terminalText(light ? .light : .dark, columns: columns)
        for shown in [code, text] { isAside ? Terminal.error(shown) : Terminal.line(shown) }
    }
}
