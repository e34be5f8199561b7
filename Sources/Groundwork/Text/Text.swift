extension BidirectionalCollection {
    /// Removes matching elements at both ends.
    public func trimming(while fits: (Element) -> Bool) -> SubSequence {
        var (start, end) = (startIndex, endIndex)
        while start < end, fits(self[start]) { formIndex(after: &start) }
        while start < end, fits(self[index(before: end)]) { formIndex(before: &end) }
        return self[start..<end]
    }
}

extension String {
    /// The text without white space and line breaks at both ends.
    public var trimmed: String { String(trimming(while: \.isWhitespace)) }

    /// The directory of this path: `.` for a bare name, `/` for entries of the root.
    public var parentDirectory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
