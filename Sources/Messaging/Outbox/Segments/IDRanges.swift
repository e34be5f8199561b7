/// A set of numbers as ranges, ascending and with gaps between them.
struct IDRanges {
    private(set) var ranges: [ClosedRange<Int64>] = []

    /// How many numbers there are.
    var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound + 1) } }

    /// The first range that does not end before `id`.
    private func index(notBefore id: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func contains(_ id: Int64) -> Bool { covers(id...id) }

    /// Whether all of these are in it.
    func covers(_ other: ClosedRange<Int64>) -> Bool {
        let index = index(notBefore: other.lowerBound)
        return index < ranges.count && ranges[index].lowerBound <= other.lowerBound
            && ranges[index].upperBound >= other.upperBound
    }

    /// How many ranges lie wholly in `other`.
    func count(inside other: ClosedRange<Int64>) -> Int { indices(inside: other).count }

    private func indices(inside other: ClosedRange<Int64>) -> Range<Int> {
        var start = index(notBefore: other.lowerBound)
        if start < ranges.count, ranges[start].lowerBound < other.lowerBound { start += 1 }
        var end = index(notBefore: other.upperBound)
        if end < ranges.count, ranges[end].upperBound == other.upperBound { end += 1 }
        return start..<max(start, end)
    }

    mutating func insert(_ new: ClosedRange<Int64>) {
        // The ranges that it touches become one with it.
        let start = index(notBefore: new.lowerBound - 1)
        var (end, merged) = (start, new)
        while end < ranges.count, ranges[end].lowerBound <= new.upperBound + 1 {
            merged = min(merged.lowerBound, ranges[end].lowerBound)...max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        if end == start + 1 { ranges[start] = merged } else { ranges.replaceSubrange(start..<end, with: [merged]) }
    }

    /// Forgets the ranges that lie wholly in `other`.
    mutating func forget(inside other: ClosedRange<Int64>) { ranges.removeSubrange(indices(inside: other)) }
}
