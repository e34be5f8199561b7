import Gateway
import Groundwork
import LocalAPI
import OAuthAccounts

/// The accounts of this board.
extension Agent {
    nonisolated func addAccountRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/accounts", needs: .read,
            .init(
                "The accounts of this board, the default one first",
                answer: .object(["accounts": .array(of: .account, "the default one first")], required: ["accounts"]))
        ) { _ in
            .json(["accounts": .array(try await self.accountReports())])
        }
        let path = ["account": Schema.accountName]
        router.on(
            "GET", "/v1/accounts/{account}", needs: .read,
            .init("The state of the board at one server", path: path, answer: .account)
        ) { request in
            let name = try request.accountName()
            if let account = try await self.oauthAccount(of: request) {
                return .json(try await self.report(of: account, named: name))
            }
            if try await self.mpinAccounts.names().contains(name.text) {
                return .json(try await self.reportOfMPinAccount(name))
            }
            if let report = try await self.unusableAccounts().first(where: { $0.name == name }) {
                return .json(report.json)
            }
            return .json(try await self.report(of: try await self.account(name)))
        }
        addCurrentAccountRoutes(to: &router)
        router.on(
            "DELETE", "/v1/accounts/{account}", needs: .operate,
            .init(
                "Remove an account that is no longer registered, with everything stored for it", path: path,
                query: [
                    "force": .string(
                        "an account of the kind oauth: even if its server does not answer", choices: ["true"])
                ],
                answer: .object(["removed": .accountName], required: ["removed"]))
        ) { request in
            let name = try request.accountName()
            var isRemoved = try await self.removeOAuthAccount(name, force: request.query["force"] != nil)
            if !isRemoved { isRemoved = try await self.removeMPinAccount(name) }
            if !isRemoved { try await self.removeAccount(name) }
            return .json(["removed": .string(name.text)])
        }
    }

    private nonisolated func addCurrentAccountRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/current-account", needs: .call,
            .init(
                "The account that the commands mean where they name none",
                answer: .object(
                    ["account": .accountName], required: ["account"]))
        ) { _ in
            .json(["account": .string(await self.currentAccount.text)])
        }
        router.on(
            "POST", "/v1/current-account", needs: .operate,
            .init(
                "Choose the account that the commands mean where they name none; nothing else changes",
                body: ["account": .accountName], required: ["account"],
                answer: .object(
                    ["account": .accountName, "former": .accountName], required: ["account", "former"]))
        ) { request in
            guard let name = AccountName(try RequestBody(request).string("account")) else {
                throw AccountError.nameInvalid
            }
            let former = try await self.useAccount(name)
            return .json(["account": .string(name.text), "former": .string(former.text)])
        }
    }

    /// The account that a request is about: the one in its path, else the default one.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    func account(of request: LocalRequest) async throws -> Account {
        let name = try request.accountName()
        if accounts[name] == nil, try await oauthAccounts.names().contains(name.text) {
            throw AccountError.otherKind(name, kind: Account.Kind.oauth.text)
        }
        if accounts[name] == nil, try await mpinAccounts.names().contains(name.text) {
            throw AccountError.otherKind(name, kind: Account.Kind.mpin.text)
        }
        return try account(name)
    }

    func accountReports() async throws -> [JSON] {
        var reports = try await unusableAccounts()
        for account in accounts.all { reports.append((account.name, try await report(of: account))) }
        for name in try await oauthAccounts.names().compactMap(AccountName.init) {
            reports.append((name, try await reportOfOAuthAccount(name)))
        }
        for name in try await mpinAccounts.names().compactMap(AccountName.init) {
            reports.append((name, try await reportOfMPinAccount(name)))
        }
        return reports.sorted { $0.name < $1.name }.map(\.json)
    }

    private func report(of account: Account) async throws -> JSON {
        let now = time.now
        let status = try await account.session.status()
        var members = status.report(at: now)
        members["start"] = startReport(of: account.name, status)
        members["user"] = try await account.session.user()?.json(at: now)
        if let lock = try await account.session.lockStatus() { members["user"] = lock.json(configuration.unlockPolicy) }
        return .object(members.merging(identity(of: account.name, account.kind)) { own, _ in own })
    }

    /// The accounts whose stored records cannot be used, with the reason.
    private func unusableAccounts() async throws -> [(name: AccountName, json: JSON)] {
        guard !accounts.unusable.isEmpty else { return [] }
        let gateways = try await gateways.accounts()
        return accounts.unusable.compactMap { name, fault in
            guard let gateway = gateways[name.text] else { return nil }
            let members: [String: JSON] = [
                "gateway": gateway.json, "registration": ["state": "unknown"],
                "start": .object(StartState.notInitialized.members), "lastError": .object(fault.members),
            ]
            return (name, .object(members.merging(identity(of: name, .gateway)) { own, _ in own }))
        }
    }

    func identity(of name: AccountName, _ kind: Account.Kind) -> [String: JSON] {
        [
            "name": .string(name.text), "kind": .string(kind.text), "isDefault": .bool(name == .gateway),
            "isCurrent": .bool(name == currentAccount), "usesBroker": .bool(name == brokerAccount),
        ]
    }
}

extension LocalRequest {
    /// The account in the path, else the default one.
    ///
    /// - Throws: ``AccountError/nameInvalid``
    func accountName() throws(AccountError) -> AccountName {
        guard let text = parameters["account"] else { return .gateway }
        guard let name = AccountName(text) else { throw .nameInvalid }
        return name
    }
}

extension Router {
    /// Adds routes about an account: unchanged for the default one, and below `/v1/accounts/{account}` for each.
    ///
    /// - Parameter defaultOnly: the paths that only the default account has.
    mutating func addOfAccounts(defaultOnly: Set<String> = [], _ addRoutes: (inout Router) -> Void) {
        var routes = Router()
        addRoutes(&routes)
        add(routes)
        add(
            routes.moved(
                from: "/v1", to: "/v1/accounts/{account}", describing: ["account": .accountName],
                leavingOut: defaultOnly))
    }
}

extension Schema {
    static var accountName: Schema {
        string(
            "name of an account: 1 to \(AccountName.limit) lower-case letters, digits and hyphens")
    }

    static var account: Schema {
        named(
            "Account",
            .object(
                gatewayMembers.merging([
                    "name": accountName,
                    "kind": .string("what it is an account of", choices: Account.Kind.allCases.map(\.text)),
                    "isDefault": .boolean("whether it is the one that is meant where none is named"),
                    "isCurrent": .boolean("whether it is the one that commands mean without --account"),
                    "usesBroker": .boolean("whether messages go by it"), "user": user, "server": oauthServer,
                    "tokens": oauthTokens, "needsPerson": .boolean("whether somebody has to log in first"),
                    "backend": mpinBackendReport, "users": mpinUsers,
                ]) { own, _ in own }, required: ["name", "kind", "isDefault", "isCurrent", "usesBroker"],
                "The state of the board at one server: gateway and registration at a gateway, server and tokens at an OAuth server, "
                    + "backend and users at an M-Pin back end"
            ))
    }
}
