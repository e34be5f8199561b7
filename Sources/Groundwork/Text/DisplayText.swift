/// Makes text from strangers safe to display: one short line without hidden characters.
public enum DisplayText {
    /// The maximum number of Unicode scalars to keep.
    public static let limit = 64

    /// Shortens the text, removes control characters and invisible ones that reorder or hide text, and collapses
    /// blanks.
    public static func clean(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        var count = 0
        var blankBefore = true
        for scalar in text.unicodeScalars.prefix(16 * limit) where isShown(scalar) {
            let isBlank = scalar.properties.isWhitespace
            if isBlank && blankBefore { continue }
            guard count < limit else { break }
            scalars.append(isBlank ? " " : scalar)
            count += 1
            blankBefore = isBlank
        }
        if scalars.last == " " { scalars.removeLast() }
        return String(scalars)
    }

    /// The text on one line, otherwise unchanged: line breaks, which could forge a log line, and other control
    /// characters, which control a terminal, become blanks.
    ///
    /// - Parameter limit: the maximum number of Unicode scalars to keep.
    public static func oneLine(_ text: String, limit: Int = .max) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(limit).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar.properties.isWhitespace
        case .format, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
