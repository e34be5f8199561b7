/// What comes from outside, such as a topic or a broker's words, has no say in how a log looks.
enum LogText {
    /// The text on one line: line breaks, which would forge a line of the log, and other control characters, which a
    /// terminal obeys, become blanks.
    static func oneLine(_ text: String) -> String {
        String(text.map { character in
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            return isControl || character.isNewline ? " " : character
        })
    }
}
