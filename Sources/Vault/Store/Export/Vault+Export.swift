public import Cryptography
import Groundwork
import Storage

/// A copy of the records in a file that a passphrase opens on any board.
extension Vault {
    /// What an export has.
    public struct Exported: Sendable, Equatable {
        /// How many records were written.
        public var records = 0
        /// Keys in hardware, and what makes the board's identity.
        public var leftOut: [RecordName] = []
        /// Records behind the passcode, open or not, and its state: an export has nothing that keeps them behind one.
        public var behindPasscode: [RecordName] = []
        /// Records that cannot be read any more, which the export does not have.
        public var damaged: [RecordName] = []
    }

    /// Whether a record makes an identity: two boards with one identity would end each other's connections. These are
    /// the records that are of no use without a private key, such as a registration's terms, credentials and tokens,
    /// and those that name an account whose own records stay out. The third argument is the scopes that have a private
    /// key, of whichever keeper. Private keys need no rule.
    public typealias IdentityRule = @Sendable (RecordName, RecordKind, Set<String>) -> Bool

    /// 64 MiB of memory for each guess of an export's passphrase.
    public static let exportCost = ScryptCost(n: 1 << 16, r: 8, p: 1)

    /// How often a commit in between makes an export start again; then it is made in one turn.
    private static let attempts = 3

    /// Writes the records, in one state of the vault, to a new file of mode 0600.
    ///
    /// Records behind the passcode stay out. Keys in hardware stay out: nothing else opens them. Without the identity,
    /// every private key stays out and every record to which the rule applies; with it, both go along, but not those of
    /// a scope with a key in hardware: the rest of that identity is useless elsewhere.
    ///
    /// - Parameters:
    ///   - path: of the new file; it and its name are on the disk when this returns. If it throws, there is none.
    ///   - passphrase: at least ``Passphrase/leastBytes`` bytes.
    /// - Throws: ``VaultError``, such as ``VaultError/export(_:)``; `CancellationError`
    public func export(
        to path: String, passphrase: SecretBytes, cost: ScryptCost = exportCost, withIdentity: Bool,
        identity isIdentity: @escaping IdentityRule
    ) async throws -> Exported {
        _ = try access()
        let writer = try explained { try ExportWriter(creating: path) }
        do {
            let key = try await made(Passphrase(passphrase, cost: cost))
            var attempt = 1
            while true {
                try explained { try writer.begin(key.wrappingKey, key.parameters) }
                let pass = ExportPass(
                    isIdentity: isIdentity, withIdentity: withIdentity, isInOneTurn: attempt == Self.attempts)
                if let exported = try await export(pass, to: writer) {
                    try explained { try writer.finish() }
                    return exported
                }
                attempt += 1
            }
        } catch {
            writer.discard()
            throw error
        }
    }

    /// One attempt to write all records.
    private struct ExportPass {
        let isIdentity: IdentityRule
        let withIdentity: Bool
        let isInOneTurn: Bool

        /// Of the vault at the beginning.
        var generation: Int64?
        var keyScopes: Set<String> = []
        var hardwareScopes: Set<String> = []
        /// Data keys behind the passcode.
        var levelKeys: Set<Int64> = []
        /// The page of the list and the record of it that are next.
        var page = 0
        var record = 0
        var exported = Exported()

        /// Whether a record stays out.
        func leavesOut(_ name: RecordName, _ kind: RecordKind) -> Bool {
            guard kind == .privateKey || isIdentity(name, kind, keyScopes) else { return false }
            return !withIdentity || hardwareScopes.contains(name.scope)
        }
    }

    /// - Returns: `nil` if a commit came in between.
    private func export(_ pass: ExportPass, to writer: ExportWriter) async throws -> Exported? {
        var pass = pass
        while true {
            let isOver = try explained { try exportTurn(&pass, to: writer) }
            guard let isOver else { return nil }
            guard !isOver else { return pass.exported }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// - Returns: whether every record was written; `nil` if a commit came in between.
    private func exportTurn(_ pass: inout ExportPass, to writer: ExportWriter) throws -> Bool? {
        let unsealed = try access()
        return try unsealed.file.database.snapshot {
            let root = try root(unsealed)
            if pass.generation == nil { try begin(&pass, root, unsealed) }
            guard pass.generation == root.generation else { return nil }
            var (records, bytes) = (0, 0)
            while pass.page < root.pages.count {
                let page = root.pages[pass.page]
                let entries = try unsealed.file.page(page, unsealed.seal).entries.sorted { $0.key < $1.key }
                for (name, entry) in entries.dropFirst(pass.record) {
                    guard pass.isInOneTurn || records < Self.turn.records && bytes < Self.turn.bytes else {
                        return false
                    }
                    bytes += try export(RecordName(scope: page.scope, name: name), entry, &pass, root, to: writer)
                    records += 1
                    pass.record += 1
                }
                (pass.page, pass.record) = (pass.page + 1, 0)
            }
            return true
        }
    }

    private func begin(_ pass: inout ExportPass, _ root: ManifestRoot, _ unsealed: Unsealed) throws {
        pass.generation = root.generation
        pass.levelKeys = try unsealed.file.levelKeyIDs()
        for page in root.pages {
            for (name, entry) in try unsealed.file.page(page, unsealed.seal).entries where entry.kind == .privateKey {
                pass.keyScopes.insert(page.scope)
                if KeyReference(name)?.keeper != .software { pass.hardwareScopes.insert(page.scope) }
            }
        }
    }

    /// - Returns: how many bytes of content were read.
    private func export(
        _ name: RecordName, _ entry: RecordEntry, _ pass: inout ExportPass, _ root: ManifestRoot,
        to writer: ExportWriter
    ) throws -> Int {
        guard entry.kind != .passcode, !pass.levelKeys.contains(entry.key) else {
            pass.exported.behindPasscode.append(name)
            return 0
        }
        guard entry.kind != .pieces else { return try exportPieces(of: name, &pass, root, to: writer) }
        guard !pass.leavesOut(name, entry.kind) else {
            pass.exported.leftOut.append(name)
            return 0
        }
        do {
            guard let record = try readInPlace(name, root, try access()) else { return 0 }
            try writer.append(name, record.kind, record.content)
            pass.exported.records += 1
            return record.content.count
        } catch let error as VaultError where error.isOfRecord {
            pass.exported.damaged.append(name)
            return 0
        }
    }

    /// - Returns: how many bytes of content were read.
    private func exportPieces(
        of name: RecordName, _ pass: inout ExportPass, _ root: ManifestRoot, to writer: ExportWriter
    ) throws -> Int {
        let unsealed = try access()
        let value: LargeValue
        do {
            // All of it, before any of it is written.
            guard let record = try readInPlace(name, root, unsealed),
                let found = LargeValue(decoding: record.content), try areGenuine(found, of: name, unsealed)
            else { throw VaultError.recordDamaged(name: name) }
            value = found
        } catch let error as VaultError where error.isOfRecord {
            pass.exported.damaged.append(name)
            return 0
        }
        guard !pass.leavesOut(name, value.kind) else {
            pass.exported.leftOut.append(name)
            return 0
        }
        try writer.begin(name, value.kind, count: value.count)
        for number in 0..<value.pieceCount {
            guard let piece = try unsealed.file.piece(number, of: name, value, unsealed.seal) else {
                throw VaultError.recordDamaged(name: name)
            }
            try writer.append(piece)
        }
        pass.exported.records += 1
        return value.count
    }
}
