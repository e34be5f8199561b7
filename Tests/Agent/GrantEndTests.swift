import Cryptography
import Groundwork
import Storage
import Testing

@testable import Agent
@testable import AgentCalls
@testable import AgentCore
@testable import Vault

@Suite("Grants when their account ends")
struct GrantEndTests {
    private static let change = Change.put(
        RecordName(scope: "", name: "other"), .configuration, SecretBytes(utf8: "stored"))

    private func withVault(
        tampered sql: String?, content: String, _ body: (Vault) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let (path, key) = (folder + "/vault.db", DevelopmentKeyFile(folder + "/vault.key"))
            let vault = try await Vault.open(at: path, with: [key], creating: true)
            try await vault.commit([
                .put(RecordName(scope: "", name: "grants"), .configuration, SecretBytes(utf8: content))
            ])
            await vault.close()
            if let sql {
                let database = try Database(path: path, migrations: VaultFile.migrations)
                try database.run(sql)
                database.close()
            }
            let again = try await Vault.open(at: path, with: [key], creating: false)
            try await body(again)
            await again.close()
        }
    }

    private static let list =
        #"{"last":1,"grants":[{"id":"1","uid":5,"accounts":["plant2"],"hosts":["a:1"],"paths":["/*"]}]}"#

    @Test("an account ends although the stored grants are damaged, lost, exchanged or not a list")
    func unreadable() async throws {
        for (sql, content) in [
            ("UPDATE record SET sealed = zeroblob(100) WHERE name = 'grants'", Self.list),
            ("DELETE FROM record WHERE name = 'grants'", Self.list),
            ("UPDATE record SET version = 9 WHERE name = 'grants'", Self.list), (nil, "{}"),
        ] as [(String?, String)] {
            try await withVault(tampered: sql, content: content) { vault in
                let book = GrantBook()
                await #expect(throws: (any Error).self, "\(sql ?? content)") { try await book.load(from: vault) }
                let account = try #require(AccountName("plant2"))
                let (ended, _) = try await book.end(at: account, in: vault) { changes in
                    try await vault.commit([Self.change] + changes)
                }
                #expect(ended.isEmpty)
                #expect(try await vault.record(RecordName(scope: "", name: "other"))?.content.exposed() != nil)
            }
        }
    }

    @Test("what is allowed at an account ends in the commit that ends it, and not without that")
    func together() async throws {
        try await withVault(tampered: nil, content: Self.list) { vault in
            let account = try #require(AccountName("plant2"))
            let book = GrantBook()
            await #expect(throws: CancellationError.self) {
                try await book.end(at: account, in: vault) { _ in throw CancellationError() }
            }
            #expect(book.all.kept.map(\.id) == ["1"])
            let (ended, _) = try await book.end(at: account, in: vault) { try await vault.commit([Self.change] + $0) }
            #expect(ended.map(\.id) == ["1"] && book.all.kept.isEmpty)
            let again = GrantBook()
            try await again.load(from: vault)
            #expect(again.all.kept.isEmpty)
        }
    }
}
