import Gateway
import Groundwork
import LocalAPI

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
            .init("How the board stands with one server", path: path, answer: .account)
        ) { request in
            .json(try await self.report(of: try await self.account(of: request)))
        }
        router.on(
            "DELETE", "/v1/accounts/{account}", needs: .operate,
            .init(
                "Remove an account that is not registered any more, with all that is stored of it", path: path,
                answer: .object(["removed": .accountName], required: ["removed"]))
        ) { request in
            let name = try request.accountName()
            try await self.removeAccount(name)
            return .json(["removed": .string(name.text)])
        }
    }

    /// The account that a request is about: the one in its path, else the default one.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    func account(of request: LocalRequest) throws -> Account { try account(try request.accountName()) }

    func accountReports() async throws -> [JSON] {
        var reports: [JSON] = []
        for account in accounts.all { reports.append(try await report(of: account)) }
        return reports
    }

    private func report(of account: Account) async throws -> JSON {
        let now = time.now
        var members = try await account.session.status().report(at: now)
        members["name"] = .string(account.name.text)
        members["kind"] = .string(account.kind.rawValue)
        members["isDefault"] = .bool(account.name == .gateway)
        members["usesBroker"] = .bool(account.name == brokerAccount)
        members["user"] = try await account.session.user()?.json(at: now)
        return .object(members)
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
    static let accountName = string(
        "name of an account: 1 to \(AccountName.limit) lower-case letters, digits and hyphens")

    static let account = named(
        "Account",
        .object(
            gatewayMembers.merging([
                "name": accountName,
                "kind": .string("what it is an account of", choices: Account.Kind.allCases.map(\.rawValue)),
                "isDefault": .boolean("whether it is the one that is meant where none is named"),
                "usesBroker": .boolean("whether messages go by it"), "user": user,
            ]) { own, _ in own }, required: ["name", "kind", "isDefault", "usesBroker", "gateway", "registration"],
            "How the board stands with one server"))
}
