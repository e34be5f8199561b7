public import Groundwork
import TOMLKit

/// The text of a settings file (TOML 1.0) as a tree of plain values.
public enum SettingsDocument {
    /// Largest file accepted, in bytes.
    public static let limit = 65_536

    /// - Throws: the fault, with line and column, when the text is not TOML 1.0.
    public static func parse(_ text: String) throws(SettingsFault) -> [String: JSON] {
        try refuseNamelessHeaders(text)
        try refuseDates(text)
        do {
            let table = try TOMLTable(string: text)
            return table.reduce(into: [:]) { members, member in members[member.0] = tree(member.1) }
        } catch let error as TOMLParseError {
            let start = error.source.begin
            let fault = "line \(start.line), column \(start.column): \(error.description)"
            throw SettingsFault(keyPath: "", fault: fault, fix: "write TOML 1.0")
        } catch {
            throw SettingsFault(keyPath: "", fault: "\(error)", fix: "write TOML 1.0")
        }
    }

    /// TOML's parser crashes the process on a table header whose name starts with an invalid character, so no such
    /// line may reach it. A line of an array inside an array looks the same; no setting has one.
    private static func refuseNamelessHeaders(_ text: String) throws(SettingsFault) {
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" }
        for (index, line) in lines.enumerated() {
            let header = line.drop { $0.properties.isWhitespace || $0 == "\u{FEFF}" }
            guard header.first == "[" else { continue }
            let beginning = header.first { $0 != "[" && $0 != " " && $0 != "\t" }
            guard let beginning, nameBeginnings.contains(beginning) else {
                throw SettingsFault(
                    keyPath: "", fault: "line \(index + 1): a table header without a name of letters, digits, _ and -",
                    fix: "write the name between the brackets, in quotes if it has other characters")
            }
        }
    }

    /// First characters of bare and quoted keys; the bracket is that of `[]`, which the parser itself refuses.
    private static let nameBeginnings = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-\"']".unicodeScalars)

    /// TOML's parser crashes the process on some faulty dates too. No setting is a date or a time, so nothing that
    /// starts like one reaches it: four digits and a hyphen, or two and a colon, outside quotes and comments.
    private static func refuseDates(_ text: String) throws(SettingsFault) {
        var (line, digits) = (1, 0)
        /// The quotation mark of the open string; reset at the end of a line, as no setting spans several.
        var quote: Unicode.Scalar?
        var isEscaped = false
        var isComment = false
        var isWord = false
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                (line, digits, quote, isEscaped, isComment, isWord) = (line + 1, 0, nil, false, false, false)
                continue
            }
            if isComment { continue }
            if let open = quote {
                if scalar == open, !isEscaped { quote = nil }
                isEscaped = open == "\"" && scalar == "\\" && !isEscaped
                continue
            }
            switch scalar {
            case "\"", "'": quote = scalar
            case "#": isComment = true
            case "0"..."9" where !isWord: digits += 1
            case "-" where digits == 4, ":" where digits == 2:
                throw SettingsFault(
                    keyPath: "", fault: "line \(line): a date or a time, which no setting takes",
                    fix: "write text in quotes")
            default:
                digits = 0
                // Digits in a name are not a date.
                isWord =
                    scalar.properties.isAlphabetic || scalar == "_" || scalar == "-" || (isWord && "0"..."9" ~= scalar)
            }
        }
    }

    /// Dates and times have been refused before.
    private static func tree(_ value: any TOMLValueConvertible) -> JSON {
        switch value.type {
        case .string: .string(value.string ?? "")
        case .int: .integer(Int64(value.int ?? 0))
        case .double: .number(value.double ?? .nan)
        case .bool: .bool(value.bool ?? false)
        case .array: .array(value.array?.map(tree) ?? [])
        case .table: .object(value.table?.reduce(into: [:]) { $0[$1.0] = tree($1.1) } ?? [:])
        case .date, .time, .dateTime: .null
        }
    }
}
