public import Vault

/// What a copy of the vault has of the accounts' records.
extension OAuthAccounts {
    /// Whether a record is of no use without the account's private key.
    ///
    /// - Parameter keyScopes: the scopes that have a private key.
    public static func needsKey(_ record: RecordName, _ keyScopes: Set<String>) -> Bool {
        if let account = AccountEntries.account(of: record) {
            return keyScopes.contains(AccountRecords.scope(of: account))
        }
        guard record.scope.hasPrefix(AccountRecords.scope(of: "")), keyScopes.contains(record.scope) else {
            return false
        }
        return [AccountRecords.holding, AccountRecords.server].contains(record.name)
    }
}
