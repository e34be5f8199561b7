import Cryptography
import Groundwork

/// The records that say which accounts there are: one for each, in no scope, with the account's kind and scope as JSON.
public enum AccountEntries {
    private static let prefix = "account-"

    public static func record(of account: String) -> RecordName { RecordName(scope: "", name: prefix + account) }

    /// - Returns: `nil` for a record that is not an account's.
    public static func account(of record: RecordName) -> String? {
        guard record.scope.isEmpty, record.name.hasPrefix(prefix) else { return nil }
        return String(record.name.dropFirst(prefix.count))
    }
}

extension Vault {
    /// The names of the accounts of a kind, sorted. An entry that cannot be read is not an account of any kind.
    public func accounts(ofKind kind: String) throws(VaultError) -> [String] {
        var accounts: [String] = []
        for entry in try names(scope: "") {
            guard let name = AccountEntries.account(of: entry), let content = try record(entry)?.content.exposed(),
                (try? JSON(parsing: content))?["kind"]?.string == kind
            else { continue }
            accounts.append(name)
        }
        return accounts
    }
}
