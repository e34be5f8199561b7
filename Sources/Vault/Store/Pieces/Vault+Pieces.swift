public import Cryptography
import Groundwork
import Storage

/// A value of any size up to ``Pieces/valueLimit``, as the vault has it when it is looked up.
public struct StoredValue: Sendable, Equatable {
    public let name: RecordName
    public let kind: RecordKind
    /// In bytes.
    public let count: Int
    /// Changes when the value is written again.
    let version: Int64

    /// How many pieces it is read in, at least one.
    public var pieceCount: Int { max(1, (count + Pieces.pieceBytes - 1) / Pieces.pieceBytes) }
}

/// Values that are written and read in pieces of 64 KiB, so that only some of them are in memory.
///
///     try await vault.putValue(name, .state) { try await file.read(upTo: 65_536) }
///     if let value = try await vault.value(name) {
///         for number in 0..<value.pieceCount { send(try await vault.piece(number, of: value)) }
///     }
extension Vault {
    /// Writes a value as it comes, and replaces the record of that name by it in one commit at the end. Until then, the
    /// former value stays; a value that is not finished is removed, by the next opening at the latest.
    ///
    /// A value of one piece is an ordinary record.
    ///
    /// - Parameter next: gives the next bytes, and `nil` at the end.
    /// - Throws: ``VaultError``, as ``commit(_:counting:)`` does; what `next` throws; `CancellationError`. The former
    ///   value is there then.
    public func putValue(
        _ name: RecordName, _ kind: RecordKind, level: ProtectionLevel = .always,
        from next: @Sendable () async throws -> SecretBytes?
    ) async throws {
        try Change.put(name, kind, SecretBytes([]), level: level).check()
        guard kind != .privateKey else { throw VaultError.recordIsKey(name: name) }
        let unsealed = try access()
        if level.isBehindPasscode { _ = try explained { try unsealed.file.levelKey(level, unsealed.seal) } }
        var draft = try explained { try ValueDraft(name) }
        do {
            while let part = try await next() {
                try Task.checkCancellation()
                try append(part, to: &draft)
            }
            guard draft.pieces > 0 else { return try write([.put(name, kind, draft.takeBuffer(), level: level)]) }
            try append(draft.takeBuffer(), isLast: true, to: &draft)
            let value = LargeValue(id: draft.id, kind: kind, count: draft.count, key: draft.key)
            try write([.put(name, .pieces, value.encoded(), level: level)])
        } catch {
            draft.wipeBuffer()
            // Where the disk does not let it go now, the next opening does.
            if draft.pieces > 0, let file = try? openFile() { try? file.removeDrafts(draft.id) }
            throw error
        }
    }

    private func append(_ part: SecretBytes, to draft: inout ValueDraft) throws(VaultError) {
        draft.count += part.count
        guard draft.count <= Pieces.valueLimit else {
            throw .contentTooLong(name: draft.name, bytes: draft.count, limit: Pieces.valueLimit)
        }
        var offset = 0
        while offset < part.count {
            // The last piece is the one that is there at the end, so a full one waits until more comes.
            if draft.isFull { try append(draft.takeBuffer(), isLast: false, to: &draft) }
            offset += draft.take(part, from: offset)
        }
    }

    private func append(_ piece: SecretBytes, isLast: Bool, to draft: inout ValueDraft) throws(VaultError) {
        let unsealed = try access()
        let (number, name, id) = (draft.pieces, draft.name, draft.id)
        let sealed = try explained {
            try unsealed.seal.seal(piece: piece, number, isLast: isLast, of: name, id: id, key: draft.key)
        }
        try explained {
            try unsealed.file.database.transaction {
                if number == 0 { try unsealed.file.beginPieces(id) }
                try unsealed.file.putPiece(number, of: name, id, sealed)
            }
        }
        draft.pieces += 1
        killPoint("piece-written")
    }

    /// Looks a value up, also one in an ordinary record.
    ///
    /// - Returns: `nil` when there is none.
    /// - Throws: as ``record(_:)`` does
    public func value(_ name: RecordName) throws(VaultError) -> StoredValue? {
        try valueContent(name).map(\.value)
    }

    /// Reads a piece of a value.
    ///
    /// - Parameter number: from 0 to ``StoredValue/pieceCount`` − 1.
    /// - Throws: ``VaultError``; ``VaultError/recordDamaged(name:)`` for a piece that is missing, or was changed or
    ///   moved, ``VaultError/valueChanged(name:)`` if the value was written again or removed since it was looked up, or
    ///   has no such piece.
    public func piece(_ number: Int, of value: StoredValue) throws(VaultError) -> SecretBytes {
        guard let (found, record) = try valueContent(value.name), found == value,
            (0..<value.pieceCount).contains(number)
        else { throw .valueChanged(name: value.name) }
        guard record.kind == .pieces else { return record.content.piece(number) }
        let unsealed = try access()
        return try explained {
            guard let large = LargeValue(decoding: record.content),
                let piece = try unsealed.file.piece(number, of: value.name, large, unsealed.seal)
            else { throw VaultError.recordDamaged(name: value.name) }
            return piece
        }
    }

    private func valueContent(_ name: RecordName) throws(VaultError) -> (value: StoredValue, record: Record)? {
        let unsealed = try access()
        let record = try explained {
            try unsealed.file.database.snapshot { try read(name, try root(unsealed), unsealed) }
        }
        guard let record else { return nil }
        guard record.kind != .privateKey else { throw .recordIsKey(name: name) }
        guard record.kind == .pieces else {
            return (
                StoredValue(name: name, kind: record.kind, count: record.content.count, version: record.version), record
            )
        }
        guard let value = LargeValue(decoding: record.content) else { throw .recordDamaged(name: name) }
        return (StoredValue(name: name, kind: value.kind, count: value.count, version: value.id), record)
    }

    /// Whether every piece of a value is there and genuine.
    func areGenuine(_ value: LargeValue, of name: RecordName, _ unsealed: Unsealed) throws -> Bool {
        try (0..<value.pieceCount).allSatisfy {
            try unsealed.file.piece($0, of: name, value, unsealed.seal) != nil
        }
    }
}

/// A value that is being written.
private struct ValueDraft {
    let name: RecordName
    let id: Int64
    let key: SecretBytes
    /// How many pieces are written.
    var pieces = 0
    /// How many bytes have come.
    var count = 0
    private var buffer: [UInt8] = []

    init(_ name: RecordName) throws {
        self.name = name
        id = try LargeValue.newID()
        key = try SecretBytes.random(Seal.keyBytes)
        // Never grown: that would leave a copy in memory.
        buffer.reserveCapacity(Pieces.pieceBytes)
    }

    var isFull: Bool { buffer.count == Pieces.pieceBytes }

    /// - Returns: how many bytes it took.
    mutating func take(_ part: SecretBytes, from offset: Int) -> Int {
        let count = min(Pieces.pieceBytes - buffer.count, part.count - offset)
        part.withUnsafeBytes {
            buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
        }
        return count
    }

    mutating func takeBuffer() -> SecretBytes {
        let piece = SecretBytes(buffer)
        wipeBuffer()
        return piece
    }

    mutating func wipeBuffer() {
        wipe(&buffer)
        buffer.reserveCapacity(Pieces.pieceBytes)
    }
}

extension LargeValue {
    /// A number that no other value has.
    static func newID() throws -> Int64 {
        try Random.bytes(8).reduce(Int64(0)) { ($0 << 8 | Int64($1)) & .max } | 1
    }
}

extension SecretBytes {
    /// A part of an ordinary record.
    fileprivate func piece(_ number: Int) -> SecretBytes {
        let start = number * Pieces.pieceBytes
        let end = min(count, start + Pieces.pieceBytes)
        return withUnsafeBytes { SecretBytes(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    }
}
