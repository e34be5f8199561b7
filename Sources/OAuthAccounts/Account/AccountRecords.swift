import Cryptography
import Groundwork
import Vault

/// The names of an account's records in the vault.
enum AccountRecords {
    /// What the record of the account's name says of its kind.
    static let kind = "oauth"
    static let holding = "holding"
    static let server = "server"

    static func scope(of account: String) -> String { "account/" + account }

    static func entry(_ account: String) -> RecordName { AccountEntries.record(of: account) }
    static func holding(_ account: String) -> RecordName { RecordName(scope: scope(of: account), name: holding) }
    static func server(_ account: String) -> RecordName { RecordName(scope: scope(of: account), name: server) }

    /// - Parameter isPersonal: whether it is behind the vault's passcode, if there is one.
    static func change(_ next: AccountHolding, of account: String, isPersonal: Bool) -> Change {
        let (name, content) = (holding(account), SecretBytes(next.document.bytes))
        return isPersonal ? .putPersonal(name, .token, content) : .put(name, .token, content)
    }

    static func change(_ next: ServerConfiguration, of account: String) -> Change {
        .put(server(account), .clientCredentials, SecretBytes(next.document.bytes))
    }

    static func addition(of account: String) -> Change {
        let content = JSON.object(["kind": .string(kind), "scope": .string(scope(of: account))])
        return .put(entry(account), .configuration, SecretBytes(content.bytes))
    }
}
