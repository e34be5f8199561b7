import CLinux

public enum TerminalWidth {
    /// - Parameter file: a descriptor, such as that of standard output.
    /// - Returns: how many characters fit into a line; `nil` when the file is not a terminal or does not say.
    public static func columns(of file: CInt) -> Int? {
        let columns = latchkey_terminal_columns(file)
        return columns > 0 ? Int(columns) : nil
    }
}
