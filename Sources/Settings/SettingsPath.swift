/// The place of one setting: `broker.port`, or `hosts[1].host` in the second table of an array.
public struct SettingsPath: Sendable, Equatable, CustomStringConvertible {
    public let table: String
    /// Of the table in its array, from 0; `nil` if the table is not in an array.
    public let index: Int?
    public let key: String

    public init(table: String, index: Int?, key: String) { (self.table, self.index, self.key) = (table, index, key) }

    /// - Returns: `nil` if the text is not such a path.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let key = Self.name(parts[1]) else { return nil }
        let pieces = parts[0].split(separator: "[", omittingEmptySubsequences: false)
        guard let table = Self.name(pieces[0]) else { return nil }
        switch pieces.count {
        case 1: index = nil
        case 2:
            guard pieces[1].last == "]", let index = UInt16(pieces[1].dropLast()) else { return nil }
            self.index = Int(index)
        default: return nil
        }
        (self.table, self.key) = (table, key)
    }

    /// - Returns: `nil` if the text is not a key of the settings.
    public static func name(_ text: Substring) -> String? {
        let isName = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        return isName && !text.isEmpty ? String(text) : nil
    }

    public var description: String { "\(table)\(index.map { "[\($0)]" } ?? "").\(key)" }
}
