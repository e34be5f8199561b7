import Cryptography
import Groundwork
import Vault

/// The two records of an account in the vault (MPIN 9).
///
/// The vault writes both in one commit: a token and the state that says there is one, a blocked state and the end of
/// its token, are never there one without the other.
struct UserStore: Sendable {
    static let usersName = "users"
    static let secretsName = "secrets"

    let vault: Vault
    let scope: String
    /// For messages.
    let account: String
    /// The back end's.
    let key: String

    private var users: RecordName { RecordName(scope: scope, name: Self.usersName) }
    private var secrets: RecordName { RecordName(scope: scope, name: Self.secretsName) }

    /// - Throws: ``MPinError/recordInvalid(account:)``, ``MPinError/storage(_:)``
    func read() async throws(MPinError) -> StoredUsers {
        let (users, secrets) = (try await content(users), try await content(secrets))
        do {
            return try StoredUsers(users: users, secrets: secrets, key: key)
        } catch {
            throw .recordInvalid(account: account)
        }
    }

    /// Replaces what is stored: all of it, or nothing if it throws.
    func write(_ stored: StoredUsers) async throws(MPinError) {
        let changes: [Change] = [
            .put(secrets, .token, SecretBytes(stored.secretDocument.bytes)),
            .put(users, .state, SecretBytes(stored.users(of: key).bytes)),
        ]
        do {
            try await vault.commit(changes)
        } catch {
            throw .storage(error)
        }
    }

    private func content(_ name: RecordName) async throws(MPinError) -> [UInt8]? {
        do {
            return try await vault.record(name)?.content.exposed()
        } catch {
            throw .storage(error)
        }
    }
}
