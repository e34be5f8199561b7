import Cryptography

/// The content of a record whose value is in pieces: what is needed to open them.
///
/// Each value has a key of its own, so that a piece of another value, or of a former one, does not open; and a new data
/// key moves this content alone.
struct LargeValue {
    private static let purpose = "latchkey value in pieces 1"

    /// Names its pieces in the file.
    let id: Int64
    /// Of the value.
    let kind: RecordKind
    /// In bytes, more than a piece has.
    let count: Int
    let key: SecretBytes

    var pieceCount: Int { (count + Pieces.pieceBytes - 1) / Pieces.pieceBytes }

    init(id: Int64, kind: RecordKind, count: Int, key: SecretBytes) {
        (self.id, self.kind, self.count, self.key) = (id, kind, count, key)
    }

    /// `nil` for content that is not from ``encoded()``.
    init?(decoding content: SecretBytes) {
        var bytes = content.withUnsafeBytes { Array($0) }
        defer { wipe(&bytes) }
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let id = reader.int64(), id > 0,
            let kind = reader.text().map(RecordKind.init(rawValue:)), kind.isAllowed, let count = reader.int64(),
            (Int64(Pieces.pieceBytes) + 1...Int64(Pieces.valueLimit)).contains(count), let key = reader.field(),
            key.count == Seal.keyBytes, reader.isAtEnd
        else { return nil }
        self.init(id: id, kind: kind, count: Int(count), key: SecretBytes(key))
    }

    func encoded() -> SecretBytes {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(id)
        writer.append(kind.rawValue)
        writer.append(Int64(count))
        key.withUnsafeBytes { writer.append($0) }
        return SecretBytes(writer.bytes)
    }
}

/// Values that are too large for a record.
public enum Pieces {
    /// The plain text of every piece but the last, in bytes.
    public static let pieceBytes = 64 << 10
    /// The most bytes of a value: 16 MiB.
    public static let valueLimit = 16 << 20
}

extension Seal {
    func seal(
        piece: SecretBytes, _ number: Int, isLast: Bool, of name: RecordName, id: Int64, key: SecretBytes
    ) throws -> [UInt8] {
        try AESGCM.seal(piece, key: key, authenticating: label(ofPiece: number, isLast, name, id))
    }

    /// `nil` for what is not this piece.
    func open(piece sealed: [UInt8], _ number: Int, of name: RecordName, _ value: LargeValue) throws -> SecretBytes? {
        let isLast = number == value.pieceCount - 1
        let expected = isLast ? value.count - number * Pieces.pieceBytes : Pieces.pieceBytes
        let label = label(ofPiece: number, isLast, name, value.id)
        let piece = try AESGCM.openGenuine(sealed, key: value.key, authenticating: label)
        return piece.flatMap { $0.count == expected ? $0 : nil }
    }

    private func label(ofPiece number: Int, _ isLast: Bool, _ name: RecordName, _ id: Int64) -> [UInt8] {
        var writer = FieldWriter(purpose: "latchkey piece 1")
        writer.append(vaultID)
        writer.append(name.scope)
        writer.append(name.name)
        for number in [id, Int64(number), isLast ? 1 : 0] { writer.append(number) }
        return writer.bytes
    }
}
