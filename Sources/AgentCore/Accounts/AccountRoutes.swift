import Groundwork
import LocalAPI

/// The routes of accounts of every kind.
extension AccountRegistry {
    /// - Parameter features: of the agent: each has its members of an account.
    package func addRoutes(to router: inout Router, of features: [any Feature.Type]) {
        let account = Schema.account(of: features)
        router.on(
            "GET", "/v1/accounts", needs: .read,
            .init(
                "The accounts of this board, the default one first",
                answer: .object(all: ["accounts": .array(of: account, "the default one first")]))
        ) { _ in
            .json(["accounts": .array(try await self.reports())])
        }
        let path = ["account": Schema.accountName]
        router.on(
            "GET", "/v1/accounts/{account}", needs: .read,
            .init("The state of the board at one server", path: path, answer: account)
        ) { request in
            .json(try await self.report(try request.accountName()))
        }
        addCurrentAccountRoutes(to: &router)
        router.on(
            "DELETE", "/v1/accounts/{account}", needs: .operate,
            .init(
                "Remove an account that is no longer registered, with everything stored for it", path: path,
                query: [
                    "force": .string(
                        "for an account of kind oauth: remove it even if its server does not answer", choices: ["true"])
                ],
                answer: .object(all: ["removed": .accountName]))
        ) { request in
            let name = try request.accountName()
            try await self.remove(name, force: request.query["force"] != nil)
            return .json(["removed": .string(name.text)])
        }
    }

    private func addCurrentAccountRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/current-account", needs: .call,
            .init(
                "The account that commands use if they name none",
                answer: .object(all: ["account": .accountName]))
        ) { _ in
            .json(["account": .string(self.current.text)])
        }
        router.on(
            "POST", "/v1/current-account", needs: .operate,
            .init(
                "Choose the account that commands use if they name none; nothing else changes",
                body: ["account": .accountName], required: ["account"],
                answer: .object(all: ["account": .accountName, "former": .accountName]))
        ) { request in
            guard let name = AccountName(try RequestBody(request).string("account")) else {
                throw AccountError.nameInvalid
            }
            let former = try await self.use(name)
            return .json(["account": .string(name.text), "former": .string(former.text)])
        }
    }
}

extension LocalRequest {
    /// The account in the path, else the default one.
    ///
    /// - Throws: ``AccountError/nameInvalid``
    package func accountName() throws(AccountError) -> AccountName {
        guard let text = parameters["account"] else { return .gateway }
        guard let name = AccountName(text) else { throw .nameInvalid }
        return name
    }
}

extension Router {
    /// Adds routes about an account: unchanged for the default one, and below `/v1/accounts/{account}` for each.
    ///
    /// - Parameter defaultOnly: the paths that only the default account has.
    package mutating func addOfAccounts(defaultOnly: Set<String> = [], _ addRoutes: (inout Router) -> Void) {
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
    /// Of a login at an account that asks for scopes.
    package static var logInScope: Schema {
        string("at an OAuth server: a scope other than the account's, separated by blanks")
    }
    package static var accountName: Schema {
        string(
            "name of an account: 1 to \(AccountName.limit) lower-case letters, digits and hyphens")
    }

    package static func account(of features: [any Feature.Type]) -> Schema {
        let common: [String: Schema] = [
            "name": accountName, "kind": .string("kind of account, such as gateway, oauth or mpin"),
            "isDefault": .boolean("whether it is used if no account is named"),
            "isCurrent": .boolean("whether commands use it without --account"),
            "usesBroker": .boolean("whether messages are sent through its broker"),
        ]
        let members = features.reduce(into: common) { all, feature in
            all.merge(feature.accountMembers) { own, _ in own }
        }
        return named(
            "Account",
            .object(
                members, required: ["name", "kind", "isDefault", "isCurrent", "usesBroker"],
                "The state of the board at one server; further members depend on the kind of account"))
    }
}
