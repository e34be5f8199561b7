import Cryptography
import Foundation
import Storage

@testable import Vault

/// A temporary directory with a vault and a development key in it, removed with its last reference.
final class Desk: Sendable {
    let directory: String
    var path: String { directory + "/vault.db" }
    var keyPath: String { directory + "/vault.key" }
    var key: DevelopmentKeyFile { DevelopmentKeyFile(keyPath) }

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/latchkey-vault-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Opens the vault by the development key, making it where it is missing.
    func open(creating: Bool = true) async throws -> Vault {
        try await Vault.open(at: path, with: [key], creating: creating)
    }
    func open(with keys: any SlotKey..., creating: Bool = false) async throws -> Vault {
        try await Vault.open(at: path, with: keys, creating: creating)
    }

    /// Makes a closed vault with these records.
    func fill(_ records: (RecordName, String)...) async throws {
        let vault = try await open()
        try await vault.commit(records.map { .put($0.0, .token, SecretBytes(utf8: $0.1)) })
        await vault.close()
    }

    /// Puts a closed vault here as an earlier version has written it, of the folder `Formats`.
    func take(_ version: String) throws {
        let formats = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Formats/\(version)")
        for name in ["vault.db", "vault.key"] {
            try write(try Data(contentsOf: formats.appending(path: name)), to: "\(directory)/\(name)")
        }
    }

    /// Works on the file behind the vault's back, as somebody with the disk could.
    func tamper(_ sql: String, _ values: Value...) throws {
        let database = try Database(path: path, migrations: VaultFile.migrations)
        defer { database.close() }
        let statement = try database.prepare(sql)
        try statement.bind(values)
        while try statement.step() {}
    }

    func column(_ sql: String) throws -> [UInt8] {
        let database = try Database(path: path, migrations: VaultFile.migrations)
        defer { database.close() }
        return try database.first(sql, read: { $0.blob(0) }) ?? []
    }

    /// The list of records of a vault with one page, as it is in the file.
    func list() throws -> (root: [UInt8], page: [UInt8], generation: Int64) {
        let database = try Database(path: path, migrations: VaultFile.migrations)
        defer { database.close() }
        return try database.first(
            "SELECT root, sealed, generation FROM vault, page", read: { ($0.blob(0), $0.blob(1), $0.int64(2)) })!
    }

    /// Replaces the list of records by an earlier one.
    func put(back list: (root: [UInt8], page: [UInt8], generation: Int64)) throws {
        try tamper("UPDATE vault SET root = ?1, generation = ?2", .blob(list.root), .integer(list.generation))
        try tamper("UPDATE page SET sealed = ?1", .blob(list.page))
    }

    /// Changes one byte of a blob.
    func flip(_ column: String, of table: String, at index: Int = 20) throws {
        var bytes = try self.column("SELECT \(column) FROM \(table)")
        bytes[index] ^= 1
        try tamper("UPDATE \(table) SET \(column) = ?1", .blob(bytes))
    }

    func bytes(_ suffix: String = "") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + suffix)) }
    func write(_ bytes: Data, to path: String, mode: Int = 0o600) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
}

let token = RecordName(scope: "gateway.example:8443/", name: "token")
let deviceKey = RecordName(scope: "", name: "device-key")
/// Cheap, for tests that derive often.
let lightCost = ScryptCost(n: 1 << 10, r: 8, p: 1)

extension Vault {
    func text(_ name: RecordName) throws -> String? { try record(name)?.content.exposedText() }
    func rootKey() throws -> SecretBytes { try access().seal.rootKey }
    func put(_ name: RecordName, _ text: String) throws { try commit([.put(name, .token, SecretBytes(utf8: text))]) }
}
