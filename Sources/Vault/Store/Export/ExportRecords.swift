import Cryptography
import Groundwork

/// Reads the records of an export from its plain text.
///
/// Records are strictly sorted, so that no name comes twice, and are such as a vault may have.
struct ExportRecords {
    private let nextPiece: () throws -> SecretBytes?
    private let path: String
    private var piece = SecretBytes([])
    private var offset = 0
    private var total = 0
    private var count = 0
    private var last: RecordName?
    /// Bytes of the value whose pieces come next.
    private var left = 0

    /// - Parameters:
    ///   - path: for errors.
    ///   - nextPiece: gives the plain text in pieces, and `nil` at its end.
    /// - Throws: ``ExportError``, and what `nextPiece` throws
    init(of path: String, from nextPiece: @escaping () throws -> SecretBytes?) throws {
        (self.path, self.nextPiece) = (path, nextPiece)
        guard try text(most: 64) == ExportFile.purpose else { throw invalid("it has something else than records") }
    }

    struct Entry {
        let name: RecordName
        let kind: RecordKind
        /// In bytes.
        let count: Int
        /// `nil` for a value that is too large for a record, whose pieces ``ExportRecords/part()`` gives.
        let content: SecretBytes?
    }

    /// Goes to the next record, over the pieces that were not read.
    ///
    /// - Returns: `nil` after the last record.
    /// - Throws: ``ExportError``, and what reading the pieces throws
    mutating func next() throws -> Entry? {
        while try part() != nil {}
        guard try !isAtEnd() else { return nil }
        let name = RecordName(scope: try text(most: 1024), name: try text(most: 255))
        let kind = RecordKind(rawValue: try text(most: 64))
        guard name.isAllowed, kind.isAllowed, !kind.isReserved, name != Compartment.record else {
            throw invalid("the name of a record is not allowed")
        }
        guard last.map({ $0 < name }) ?? true else { throw invalid("record \(name) is not in its place") }
        last = name
        count += 1
        guard count <= ManifestRoot.recordLimit else { throw invalid("it has too many records") }
        let length = try length(most: Pieces.valueLimit)
        guard length <= Change.contentLimit else {
            try checkKey(name, kind, SecretBytes([]))
            left = length
            return Entry(name: name, kind: kind, count: length, content: nil)
        }
        var bytes = try take(length)
        defer { wipe(&bytes) }
        let content = SecretBytes(bytes)
        try checkKey(name, kind, content)
        return Entry(name: name, kind: kind, count: length, content: content)
    }

    /// The next piece of a large value.
    ///
    /// - Returns: `nil` after the last one.
    /// - Throws: as ``next()``
    mutating func part() throws -> SecretBytes? {
        guard left > 0 else { return nil }
        var bytes = try take(min(left, Pieces.pieceBytes))
        defer { wipe(&bytes) }
        left -= bytes.count
        return SecretBytes(bytes)
    }

    /// A key is restored only as one that this board can use, and nothing else under the name of a key.
    private func checkKey(_ name: RecordName, _ kind: RecordKind, _ content: SecretBytes) throws {
        guard kind == .privateKey || KeyReference(name.name) != nil else { return }
        let record = Record(name: name, kind: kind, version: 1, content: content)
        guard KeyReference(name.name)?.keeper == .software else {
            throw invalid("record \(name) has the name of a key, or is a key without one")
        }
        do {
            _ = try record.key()
        } catch {
            throw invalid(error.message)
        }
    }

    private mutating func text(most: Int) throws -> String {
        guard let text = String(validating: try field(most: most), as: UTF8.self) else {
            throw invalid("the name of a record is not allowed")
        }
        return text
    }

    private mutating func field(most: Int) throws -> [UInt8] { try take(try length(most: most)) }

    private mutating func length(most: Int) throws -> Int {
        let count = try take(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= most else { throw invalid("a part of a record is too long") }
        return count
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        var taken: [UInt8] = []
        // Never grown: that would leave a copy in memory.
        taken.reserveCapacity(count)
        do {
            while taken.count < count {
                guard try !isAtEnd() else { throw invalid("it ends within a record") }
                let part = min(count - taken.count, piece.count - offset)
                piece.withUnsafeBytes {
                    taken.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + part]))
                }
                offset += part
            }
        } catch {
            wipe(&taken)
            throw error
        }
        return taken
    }

    /// Goes to the next piece if this one is used up.
    private mutating func isAtEnd() throws -> Bool {
        while offset == piece.count {
            guard let next = try nextPiece() else { return true }
            (piece, offset) = (next, 0)
            total += next.count
            guard total <= ExportFile.contentLimit else {
                throw ExportError.tooLarge(path: path, limit: ExportFile.contentLimit)
            }
        }
        return false
    }

    private func invalid(_ reason: String) -> ExportError { .contentInvalid(path: path, reason: reason) }
}
