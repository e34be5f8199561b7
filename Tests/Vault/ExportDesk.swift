import Cryptography
import Foundation

@_spi(KeyBytes) @testable import Vault

/// An export beside a vault, and what tests do with its bytes.
extension Desk {
    static let passphrase = SecretBytes(utf8: "six words that were drawn at random")
    var exportPath: String { directory + "/export" }

    /// Exports with everything that makes an identity, unless the rule says that nothing does.
    func export(
        _ vault: Vault, to path: String? = nil, withIdentity: Bool = true,
        identity: @escaping Vault.IdentityRule = { _, _, _ in false }
    ) async throws -> Vault.Exported {
        try await vault.export(
            to: path ?? exportPath, passphrase: Self.passphrase, cost: lightCost, withIdentity: withIdentity,
            identity: identity)
    }

    /// Restores into a new vault.
    func restored(from path: String? = nil, passphrase: SecretBytes = passphrase) async throws -> Vault {
        let vault = try await open()
        _ = try await vault.restore(from: path ?? exportPath, passphrase: passphrase) { _ in false }
        return vault
    }

    func exportBytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: exportPath))) }
    func writeExport(_ bytes: [UInt8]) throws { try write(Data(bytes), to: exportPath) }

    /// The key that scrypt makes for an export.
    static func exportSecret(_ bytes: [UInt8]) async throws -> SecretBytes {
        var source = bytes[...]
        let header = try ExportHeader(from: { source.take($0) }, of: "export")
        return try await Passphrase(passphrase).wrappingKey(from: header.parameters)
    }

    /// Reads an export to its end.
    static func read(_ bytes: [UInt8], _ secret: SecretBytes) throws -> [(name: RecordName, content: SecretBytes)] {
        var source = bytes[...]
        let header = try ExportHeader(from: { source.take($0) }, of: "export")
        let pieces = try ExportPieces(header, secret, of: "export", from: { source.take($0) })
        var records = try ExportRecords(of: "export", from: pieces.next)
        var found: [(name: RecordName, content: SecretBytes)] = []
        while let record = try records.next() { found.append((record.name, record.content ?? SecretBytes([]))) }
        return found
    }
}

extension ArraySlice<UInt8> {
    /// The next bytes, or fewer at the end.
    mutating func take(_ count: Int) -> [UInt8] {
        defer { self = dropFirst(count) }
        return Array(prefix(count))
    }
}

extension Vault {
    /// The content of every record, also of keys.
    func contents() throws -> [RecordName: SecretBytes] {
        var found: [RecordName: SecretBytes] = [:]
        for scope in try scopes() {
            for name in try names(scope: scope) { found[name] = try exposedRecord(name)?.content }
        }
        return found
    }
}
