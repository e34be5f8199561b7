/// Encodes a list of fields so that different lists never give the same bytes: numbers as 8 bytes, text and bytes after
/// their count as 4 bytes, all big-endian.
///
/// Used for the additional data that AES-GCM authenticates, and for the plain text of the manifest.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter purpose: prevents data sealed for one purpose from being used for another.
    init(purpose: String) { append(purpose) }

    /// For fields that follow others of a purpose.
    init() {}

    mutating func append(_ field: some Collection<UInt8>) {
        append(count: field.count)
        bytes += field
    }

    /// The count of a field, whose bytes follow elsewhere.
    mutating func append(count: Int) { append(bigEndian: UInt32(count)) }

    mutating func append(_ text: String) { append(text.utf8) }
    mutating func append(_ number: Int64) { append(bigEndian: UInt64(bitPattern: number)) }

    private mutating func append(bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

/// Decodes the fields of ``FieldWriter``; every function returns `nil` if the bytes end too early.
struct FieldReader {
    private var rest: ArraySlice<UInt8>

    /// `nil` when the bytes were not written for this purpose.
    init?(_ bytes: [UInt8], purpose: String) {
        rest = bytes[...]
        guard text() == purpose else { return nil }
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func field() -> [UInt8]? {
        guard let count = number(of: UInt32.self), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    mutating func text() -> String? { field().flatMap { String(validating: $0, as: UTF8.self) } }
    mutating func int64() -> Int64? { number(of: UInt64.self).map(Int64.init(bitPattern:)) }

    private mutating func number<Number: FixedWidthInteger>(of type: Number.Type) -> Number? {
        let count = Number.bitWidth / 8
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | Number($1) }
    }
}
