public import Vault

/// What a copy of the vault has of the gateways' records.
extension Gateways {
    /// Whether a record belongs to a registration: without it a board knows the gateway, and registers there anew.
    public static func isOfRegistration(_ record: RecordName) -> Bool {
        guard let identity = GatewayIdentity(scope: record.scope) else { return false }
        return record == stopped(identity) || HoldingsDocument(rawValue: record.name) != nil
    }

    /// Whether a record is of a user, and behind the vault's passcode if there is one.
    public static func isPersonal(_ record: RecordName) -> Bool {
        GatewayIdentity(scope: record.scope) != nil && HoldingsDocument(rawValue: record.name)?.isPersonal == true
    }

    /// Records that a board without an account may have: the default document that it has seen, and hosts.
    public static let recordsWithoutAccount: Set = [defaultDocument, HostList.record]
}
