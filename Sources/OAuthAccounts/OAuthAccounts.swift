import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// The board's accounts at OAuth servers: made, found and removed by name.
public actor OAuthAccounts {
    /// What is asked of a server when an account is made.
    public struct Registration: Sendable {
        /// What the client is called there.
        public var clientName = ""
        /// The initial access token, if the server demands one (RFC 7591 section 3).
        public var token: SecretBytes?
        /// Whether the way to authenticate is chosen among those that the server offers.
        public var choosesAuthentication = false

        public init() {}
    }

    private let vault: Vault
    private let client: ServerClient
    private let clock: @Sendable () -> Date
    private let onLoginNeeded: @Sendable (String, OAuthAccountError) -> Void
    private let opened = OpenedOnce<OAuthAccount>()

    /// - Parameter onLoginNeeded: called with the name of an account whose refresh token was refused, once for each.
    public init(
        vault: Vault, client: HTTPClient, clock: @escaping @Sendable () -> Date,
        onLoginNeeded: @escaping @Sendable (String, OAuthAccountError) -> Void = { _, _ in }
    ) {
        self.onLoginNeeded = onLoginNeeded
        self.vault = vault
        self.client = ServerClient(client, clock: clock)
        self.clock = clock
    }

    /// The names, sorted.
    public func names() async throws -> [String] {
        try await vault.accounts(ofKind: AccountRecords.kind)
    }

    /// - Returns: `nil` if there is no such account.
    /// - Throws: ``OAuthAccountError/recordInvalid(account:)``, what the vault throws
    public func account(_ name: String) async throws -> OAuthAccount? {
        try await opened.value(name) { try await open(name) }
    }

    private func open(_ name: String) async throws -> OAuthAccount? {
        guard let record = try await vault.record(AccountRecords.server(name)) else { return nil }
        guard let document = try? JSON(parsing: record.content.exposed()) else {
            throw OAuthAccountError.recordInvalid(account: name)
        }
        let server = try ServerConfiguration(document, of: name)
        let account = OAuthAccount(name: name, server: server, vault: vault, client: client, clock: clock) {
            [onLoginNeeded] in onLoginNeeded(name, $0)
        }
        try await account.load()
        return account
    }

    /// Reads what the accounts hold again, after the vault's passcode was locked or unlocked, or what is behind it
    /// erased.
    public func refresh() async {
        // An account that cannot be read says so when it is used.
        for account in opened.all { try? await account.refresh() }
    }

    /// The records of persons.
    public func personalRecords() async throws(VaultError) -> [RecordName] {
        var records: [RecordName] = []
        for name in try await vault.accounts(ofKind: AccountRecords.kind) {
            // One that cannot be opened has nothing to protect: its tokens are of no use.
            guard let account = try? await account(name), await account.isPersonal else { continue }
            records.append(AccountRecords.holding(name))
        }
        return records
    }

    /// Makes an account: asks the server for its description, and for a client if there is none yet.
    ///
    /// The caller must make sure that there is no account of that name, and must not call it twice at a time.
    ///
    /// - Parameters:
    ///   - given: the issuer, or endpoints, and what else a person said.
    ///   - registration: `nil` for a client that the server already knows.
    public func add(
        _ name: String, _ given: ServerConfiguration, registration: Registration?
    ) async throws -> OAuthAccount {
        var server = given
        if let issuer = server.issuer {
            let metadata = try await Discovery(client: client, server: server, clock: clock).metadata(of: issuer)
            if registration?.choosesAuthentication == true {
                try server.chooseAuthentication(of: metadata.tokenAuthentications)
            }
            try server.adopt(metadata, registers: registration != nil)
            try server.check(signing: metadata.idTokenAlgorithms)
        }
        let keys = vault.keys(of: AccountRecords.scope(of: name))
        // An earlier attempt may have left one.
        try await keys.sweep(keeping: [])
        var key: StoredKey?
        if server.authentication == .privateKey || server.needsKeyForGrant {
            key = try await keys.make(server.algorithm == .RS256 ? .rsa(bits: 2048) : .p256, label: "client")
            server.key = key?.reference
        }
        let answer = try await register(&server, registration, key)
        do {
            if let answer { try server.take(answer) }
            try server.check()
            killPoint("oauth-account-answered")
            try await vault.commit(
                [AccountRecords.change(server, of: name), AccountRecords.addition(of: name)], counting: true)
        } catch {
            // An unused client is not left behind; why there is no account matters more.
            try? await OAuthAccount.deregister(server, by: client)
            throw error
        }
        guard let account = try await account(name) else { throw OAuthAccountError.recordInvalid(account: name) }
        return account
    }

    /// Registers this board's client (RFC 7591 section 3).
    ///
    /// - Returns: `nil` for a client that the server already knows.
    private func register(
        _ server: inout ServerConfiguration, _ registration: Registration?, _ key: StoredKey?
    ) async throws -> ClientRegistration? {
        guard let registration else { return nil }
        try server.checkBeforeRegistration()
        let endpoint = OAuthAccount.name(.registration)
        guard let address = server.endpoints[.registration] else { throw OAuthAccountError.endpointMissing(endpoint) }
        var request = try OAuthAccount.request("POST", address, server, judgedAt: clock)
        request.headers.set("Content-Type", "application/json")
        request.headers.set("Accept", "application/json")
        if let token = registration.token {
            request.headers.set("Authorization", "Bearer \(token.exposedText())")
        }
        request.body = server.registration(named: registration.clientName, key).bytes
        let response = try await OAuthAccount.send(request, by: client, to: endpoint)
        guard response.isSuccess, OAuthRefusals().refusal(in: response) == nil else {
            throw OAuthAccount.failure(response, of: endpoint)
        }
        let answer = try OAuthAccount.read(endpoint) { () throws(AnswerFault) in
            try ClientRegistration(response.body)
        }
        if let address = answer.address, WebAddress(address) != nil, let token = answer.token {
            (server.registrationAddress, server.registrationToken) = (address, token)
        }
        return answer
    }

    /// Removes an account: revokes its tokens, deletes the client that the board registered, and forgets all of it.
    ///
    /// - Parameter force: even if the server does not answer, or the records cannot be read.
    public func remove(_ name: String, force: Bool) async throws {
        let account = force ? try? await account(name) : try await account(name)
        if let account {
            do {
                try await account.logOut(force: force)
            } catch  where force {}
            do {
                try await account.deregister()
            } catch  where force {}
        }
        try await opened.remove(name) { account in
            await account.close()
        } erasing: {
            let scope = AccountRecords.scope(of: name)
            var changes = try await vault.names(scope: scope).map(Change.remove)
            changes.append(.remove(AccountRecords.entry(name)))
            killPoint("oauth-removal-begun")
            try await vault.commit(changes, counting: true)
        }
    }
}
