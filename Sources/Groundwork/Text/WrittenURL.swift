/// The URL in what a person has pasted, scanned or saved: alone, in quotes, or as a shortcut that a desktop has made.
///
/// Only what stands around the URL is removed. Whether it is one, and a safe one, is for its own parser to say.
public struct WrittenURL: Sendable, Equatable {
    /// Why there is no URL. Does not quote the text.
    public struct Fault: Error, Equatable {
        /// Completes a sentence about the text.
        public let reason: String
    }

    public let text: String

    /// - Throws: ``Fault`` for a shortcut without `URL=`.
    public init(_ written: String) throws(Fault) {
        let content = Self.bare(written[...])
        guard Self.isShortcut(content) else {
            text = String(content)
            return
        }
        guard let target = Self.target(ofShortcut: content) else {
            throw Fault(reason: "it is an internet shortcut without a line URL=")
        }
        text = String(Self.bare(target))
    }

    /// Whether the text begins as a shortcut, whose URL can be read only when the line with it has come.
    public static func isShortcut(_ text: some StringProtocol) -> Bool {
        let line = bare(Substring(text.drop { isBlank($0) }.prefix { !$0.isNewline }))
        return line.hasPrefix("[") && line.hasSuffix("]") && !line.contains("://")
    }

    // MARK: Shortcuts

    /// Of Windows, and of free desktops.
    private static let sections: Set = ["[internetshortcut]", "[desktop entry]"]

    private static func target(ofShortcut content: Substring) -> Substring? {
        var isInside = false
        for line in content.split(whereSeparator: \.isNewline).map(bare) {
            if line.hasPrefix("[") {
                isInside = sections.contains(line.lowercased())
            } else if isInside, let sign = line.firstIndex(of: "="), bare(line[..<sign]).lowercased() == "url" {
                let target = bare(line[line.index(after: sign)...])
                return target.isEmpty ? nil : target
            }
        }
        return nil
    }

    // MARK: What stands around

    private static let quotes: [(Character, Character)] = [
        ("\"", "\""), ("'", "'"), ("`", "`"), ("<", ">"), ("\u{201C}", "\u{201D}"), ("\u{201D}", "\u{201D}"),
        ("\u{201E}", "\u{201C}"), ("\u{201E}", "\u{201D}"), ("\u{2018}", "\u{2019}"), ("\u{201A}", "\u{2018}"),
        ("\u{AB}", "\u{BB}"), ("\u{BB}", "\u{AB}"),
    ]

    /// Blanks, and characters without width that editors, chats and web pages put around a text.
    private static func isBlank(_ character: Character) -> Bool {
        character.isWhitespace || ["\u{FEFF}", "\u{200B}", "\u{2060}", "\u{200E}", "\u{200F}"].contains(character)
    }

    /// Without blanks and pairs of quotes at both ends.
    private static func bare(_ text: Substring) -> Substring {
        var text = text.trimming { isBlank($0) }
        while let first = text.first, let last = text.last, text.index(after: text.startIndex) < text.endIndex,
            quotes.contains(where: { $0 == (first, last) })
        {
            text = text.dropFirst().dropLast().trimming { isBlank($0) }
        }
        return text
    }
}
