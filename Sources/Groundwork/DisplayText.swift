/// Makes text of strangers fit to be shown: one short line that says only what it shows.
public enum DisplayText {
    /// The most Unicode scalars kept.
    public static let limit = 64

    /// Short, without control characters and without the invisible ones that turn or hide text; runs of blanks become
    /// one.
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

    /// The text on one line, otherwise as it is: line breaks, which would forge a line of a log, and other control
    /// characters, which a terminal obeys, become blanks.
    ///
    /// - Parameter limit: the most Unicode scalars that are kept.
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
