/// Makes text of strangers fit to be shown: one short line that says only what it shows.
public enum DisplayText {
    /// The most Unicode scalars kept.
    public static let limit = 64

    /// Without control characters and without the invisible ones that turn or hide text; runs of blanks become one.
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

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar.properties.isWhitespace
        case .format, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
