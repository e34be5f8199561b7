import Cryptography

/// What the list of records has of the counter in a TPM that shows whether the file is the newest.
///
/// A commit that counts is on the disk with one more than the counter has, before the counter counts. A counter with
/// one less was cut off in between; one with more has counted for a newer file than this.
struct Anchor: Equatable {
    let counter: ChipCounter
    /// What the counter has, or is about to have. 0 before it has counted for the first time.
    var value: UInt64 = 0
    /// When a commit counted last, in seconds since 1970 by a clock that may be wrong.
    var date: Int64 = 0
}

/// The counters of a vault, as the root of the list of records has them.
struct Anchoring: Equatable {
    /// The most counters that wait to be removed.
    private static let retiredLimit = 8

    private(set) var anchor: Anchor?
    /// Counters that are no longer used, until they are removed from their chip.
    private(set) var retired: [ChipIndex] = []

    init() {}

    var isEmpty: Bool { anchor == nil && retired.isEmpty }

    /// Ends the use of the counter.
    mutating func retire() {
        if let anchor { retired = (retired + [anchor.counter.index]).suffix(Self.retiredLimit) }
        anchor = nil
    }

    mutating func use(_ anchor: Anchor) {
        self.anchor = anchor
        removed([anchor.counter.index])
    }

    mutating func removed(_ indexes: [ChipIndex]) { retired.removeAll(where: indexes.contains) }

    // MARK: Bytes

    /// `nil` for fields that are not from ``append(to:)``.
    init?(_ reader: inout FieldReader) {
        guard let count = reader.int64(), (0...1).contains(count) else { return nil }
        if count == 1 {
            guard let index = ChipIndex(&reader), let value = reader.int64(), let date = reader.int64() else {
                return nil
            }
            anchor = Anchor(counter: ChipCounter(index: index), value: UInt64(bitPattern: value), date: date)
        }
        guard let count = reader.int64(), (0...Int64(Self.retiredLimit)).contains(count) else { return nil }
        for _ in 0..<count {
            guard let index = ChipIndex(&reader) else { return nil }
            retired.append(index)
        }
        guard !isEmpty else { return nil }
    }

    func append(to writer: inout FieldWriter) {
        writer.append(Int64(anchor == nil ? 0 : 1))
        if let anchor {
            anchor.counter.index.append(to: &writer)
            writer.append(Int64(bitPattern: anchor.value))
            writer.append(anchor.date)
        }
        writer.append(Int64(retired.count))
        for index in retired { index.append(to: &writer) }
    }
}

extension ChipIndex {
    fileprivate init?(_ reader: inout FieldReader) {
        guard let number = reader.int64().flatMap({ UInt32(exactly: $0) }), Self.numbers.contains(number),
            let name = reader.field(), ChipObject.isName(name)
        else { return nil }
        self.init(number: number, primaryName: name)
    }

    fileprivate func append(to writer: inout FieldWriter) {
        writer.append(Int64(number))
        writer.append(primaryName)
    }
}

extension Seal {
    /// The counter's place in a chip and the value that its use needs. Both follow from the root key: a file from
    /// before there was a counter finds the one that was made since.
    func counterKeys() throws -> (numbers: [UInt32], authorization: SecretBytes) {
        let drawn = try derived("latchkey rollback index 1").exposed()
        let numbers = (0..<8).map { place in
            ChipIndex.numbers.lowerBound + UInt32(drawn[2 * place]) << 8 + UInt32(drawn[2 * place + 1])
        }
        return (numbers, try derived("latchkey rollback counter 1"))
    }
}
