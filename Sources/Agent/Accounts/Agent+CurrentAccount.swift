import Cryptography
import Groundwork
import Vault

/// The account that commands mean where they name none (decision 0053).
extension Agent {
    private static let currentAccountRecord = RecordName(scope: "", name: "current-account")

    /// Takes the choice that was in force when the agent last ran. The caller must hold ``accountChange``.
    func loadCurrentAccount() async throws {
        guard let record = try await vault.record(Self.currentAccountRecord) else { return }
        currentAccount = AccountName(record.content.exposedText()) ?? .gateway
    }

    /// Has commands that name no account mean this one, until another is chosen; also across restarts.
    ///
    /// Nothing that runs changes: neither whose broker carries the messages, nor what `/v1/…` without an account means.
    ///
    /// - Returns: the one before.
    /// - Throws: ``AccountError/unknown(_:)``, what the vault throws
    func useAccount(_ name: AccountName) async throws -> AccountName {
        await accountChange.lock()
        defer { accountChange.unlock() }
        let names = try await accountNames()
        guard name == .gateway || names.contains(name.text) else { throw AccountError.unknown(name) }
        let former = currentAccount
        guard name != former else { return former }
        try await vault.commit([.put(Self.currentAccountRecord, .configuration, SecretBytes(utf8: name.text))])
        currentAccount = name
        return former
    }

    /// An account that disappeared would have the next command fail, or mean another one.
    ///
    /// - Throws: ``AccountError/current(_:)``
    func requireNotCurrent(_ name: AccountName) throws(AccountError) {
        // The default account may always be named: it is enrolled again under that name.
        guard name != currentAccount || name == .gateway else { throw .current(name) }
    }
}
