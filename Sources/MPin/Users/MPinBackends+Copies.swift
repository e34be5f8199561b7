public import Vault

/// What a copy of the vault has of the back ends' records.
extension MPinBackends {
    /// Whether a record has the users of a back end or their secrets, with which they log in.
    public static func isOfUsers(_ record: RecordName) -> Bool {
        record.scope.hasPrefix(scope(of: "")) && [UserStore.usersName, UserStore.secretsName].contains(record.name)
    }
}
