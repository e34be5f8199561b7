import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import MPin
import Prompts

/// Users of M-Pin back ends: their registration, and their logins.
extension MPinFeature {
    package func addRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/mpin/test", needs: .operate,
            .init(
                "Check whether there is an M-Pin back end at an address", body: Schema.mpinBackend, required: ["url"],
                answer: .mpinTested)
        ) { request in
            let configuration = try MPinConfiguration(RequestBody(request).mpinDocument())
            return .json(try await self.tested(configuration))
        }
        router.on(
            "POST", "/v1/mpin/service", needs: .operate,
            .init(
                "The service that the address in a scanned code leads to", body: Schema.mpinScanned, required: ["code"],
                answer: MPinServiceDetails.schema())
        ) { request in
            let body = RequestBody(request)
            let code = try body.string("code")
            let address = String(code.prefix { $0 != "#" })
            let configuration = try MPinConfiguration(try body.mpinDocument(of: address))
            return .json(try await self.kind.backends.serviceDetails(at: address, as: configuration).json)
        }
        let account = ["account": Schema.accountName]
        let path = "/v1/accounts/{account}/mpin"
        router.on(
            "POST", path, needs: .operate,
            .init(
                "Add an account at an M-Pin back end, which must answer", path: account, body: Schema.mpinBackend,
                required: ["url"], answer: .account(of: self.host.featureTypes))
        ) { request in
            let name = try request.accountName()
            let configuration = try MPinConfiguration(RequestBody(request).mpinDocument())
            try await self.host.accounts.add(name, ofKind: self.kind.name) {
                _ = try await self.kind.backends.add(name.text, configuration)
            }
            return .json(try await self.host.accounts.report(name))
        }
        router.on(
            "POST", "\(path)/test", needs: .operate,
            .init("Check whether the account's back end answers", path: account, answer: .mpinTested)
        ) { request in
            let configuration = try await self.account(of: request).configuration
            return .json(try await self.tested(configuration))
        }
        router.on(
            "POST", "\(path)/session", needs: .operate,
            .init(
                "Which login a browser's code belongs to", path: account,
                body: ["accessCode": Schema.string("the code as scanned").asSensitive], required: ["accessCode"],
                answer: MPinSessionDetails.schema())
        ) { request in
            let code = try RequestBody(request).string("accessCode")
            return .json(try await self.account(of: request).session(of: code).json)
        }
        addUserRoutes(to: &router, below: path, account)
        addPINRoutes(
            to: &router, below: "\(path)/users/{user}", account.merging(["user": .mpinUserID]) { own, _ in own })
    }

    private func addUserRoutes(
        to router: inout Router, below path: String, _ account: [String: Schema]
    ) {
        router.on(
            "GET", "\(path)/users", needs: .read,
            .init("The users of the back end on this board", path: account, answer: .object(all: ["users": .mpinUsers]))
        ) { request in
            .json(["users": .array(try await self.account(of: request).users().map(\.json))])
        }
        router.on(
            "POST", "\(path)/users", needs: .operate,
            .init(
                "Add a user; the user is kept once a registration has begun", path: account,
                body: ["user": .mpinUserID, "deviceName": .string("name that the back end shows for this board")],
                required: ["user"], answer: .newMPinUser)
        ) { request in
            let body = RequestBody(request)
            let account = try await self.account(of: request)
            let user = try await account.newUser(
                try body.string("user"), deviceName: try body.optionalString("deviceName"))
            var members = MPinUser.answer.members(of: user)
            let asks = await account.asksForDeviceName
            members["wantsDeviceName"] = .bool(asks && user.deviceName == nil)
            members["advice"] = .array(MPinAdvice.lines.map(JSON.string))
            return .json(.object(members))
        }
        let user = account.merging(["user": .mpinUserID]) { own, _ in own }
        router.on(
            "DELETE", "\(path)/users/{user}", needs: .operate,
            .init(
                "Delete a user on this board, with the token", path: user,
                answer: .object(all: ["deleted": .mpinUserID]))
        ) { request in
            let id = request.mpinUserID
            let account = try await self.account(of: request)
            try await account.delete(id)
            self.kind.forget(id, at: try request.accountName())
            self.host.report(MPinEvent.didDelete(user: id), of: try request.accountName())
            return .json(["deleted": .string(id)])
        }
        router.on(
            "POST", "\(path)/users/{user}/register", needs: .operate,
            .init(
                "Ask the back end for an identity of the user; it then verifies the user", path: user,
                body: [
                    "restart": .boolean("whether to begin again a registration that has begun"),
                    "activationCode": Schema.string("code that activates the user at once").asSensitive,
                    "userData": .string("text that the back end passes on for verifying the user"),
                ], answer: .mpinUser)
        ) { request in
            let body = RequestBody(request)
            let user = try await self.account(of: request).register(
                request.mpinUserID, restart: try body.bool("restart", default: false),
                activationCode: try body.optionalString("activationCode").map { SecretBytes(utf8: $0) },
                userData: try body.optionalString("userData"))
            self.host.report(
                MPinEvent.didStartRegistration(user: user.id, user.state), of: try request.accountName())
            return .json(user.json)
        }
        router.on(
            "POST", "\(path)/users/{user}/confirm", needs: .operate,
            .init(
                "Fetch the secret of a user whom the back end has verified; it is kept in memory until a PIN is chosen",
                path: user, body: ["pushToken": .string("token for the back end's push messages")],
                answer: .mpinUser)
        ) { request in
            let token = try RequestBody(request).optionalString("pushToken")
            return .json(try await self.account(of: request).confirm(request.mpinUserID, pushToken: token).json)
        }
        router.on(
            "POST", "\(path)/users/{user}/logout", needs: .operate,
            .init(
                "End the session of a browser that was logged in from here", path: user,
                answer: .object(all: ["loggedOut": .boolean("false: no session can be ended from here")]))
        ) { request in
            .json(["loggedOut": .bool(try await self.kind.logOut(try await self.user(of: request)))])
        }
    }

    /// What takes a PIN: in the request, or by prompts.
    private func addPINRoutes(
        to router: inout Router, below path: String, _ parameters: [String: Schema]
    ) {
        router.on(
            "POST", "\(path)/finish", needs: .operate,
            .init(
                "Choose the PIN of a user who was confirmed, and keep the token", path: parameters,
                body: ["pin": .mpinPIN], required: ["pin"], answer: .mpinUser)
        ) { request in
            let pin = SecretBytes(utf8: try RequestBody(request).string("pin"))
            return .json(try await self.finish(try await self.user(of: request), pin: pin).json)
        }
        router.on(
            "POST", "\(path)/finish/prompted", needs: .operate,
            .init(
                "Choose the PIN by prompts, which ask for it twice; ends when its reader disconnects",
                path: parameters, body: ["answerers": .mpinAnswerers],
                events: ["prompt.*": .promptStep, "registered": .mpinUser])
        ) { request in
            let answerers = try RequestBody(request).answerers(of: request)
            let user = try await self.user(of: request)
            return .events(
                LocalEvent.steps("registered") { step in
                    try await self.finishPrompted(user, answerers: answerers, step: step).json
                })
        }
        router.on(
            "POST", "\(path)/login", needs: .operate,
            .init(
                "Log in with the PIN", path: parameters,
                body: Schema.mpinLogin.merging(["pin": .mpinPIN]) { own, _ in own }, required: ["pin"],
                answer: .mpinLoginResult)
        ) { request in
            let body = RequestBody(request)
            let login = try body.mpinLogin()
            let pin = SecretBytes(utf8: try body.string("pin"))
            let user = try await self.user(of: request)
            try await self.kind.begin(user, login)
            return .json(try await self.kind.logIn(user, pin: pin, login).json)
        }
        router.on(
            "POST", "\(path)/login/prompted", needs: .operate,
            .init(
                "Log in with the PIN, which a prompt asks for; ends when its reader disconnects", path: parameters,
                body: Schema.mpinLogin.merging(["answerers": .mpinAnswerers]) { own, _ in own },
                events: ["prompt.*": .promptStep, "logged-in": .mpinLoginResult])
        ) { request in
            let body = RequestBody(request)
            let login = try body.mpinLogin()
            let answerers = try body.answerers(of: request)
            let user = try await self.user(of: request)
            return .events(
                LocalEvent.steps("logged-in") { step in
                    try await self.logInPrompted(user, login, answerers: answerers, step: step).json
                })
        }
    }
}

extension LocalRequest {
    fileprivate var mpinUserID: String { parameters["user"] ?? "" }
}

extension MPinFeature {
    private func tested(_ configuration: MPinConfiguration) async throws -> JSON {
        let settings = try await kind.backends.testBackend(configuration)
        return ["url": .string(configuration.url), "settings": .object(settings.mapValues(JSON.string))]
    }

    private func account(of request: LocalRequest) async throws -> MPinAccount {
        try await kind.account(try request.accountName())
    }

    /// The user in the path of a request.
    private func user(of request: LocalRequest) async throws -> MPinUserReference {
        MPinUserReference(
            account: try await account(of: request), name: try request.accountName(), id: request.mpinUserID)
    }
}

extension RequestBody {
    /// What `MPinConfiguration` reads.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    fileprivate func mpinDocument() throws(AgentError) -> JSON { try mpinDocument(of: try string("url")) }

    fileprivate func mpinDocument(of address: String) throws(AgentError) -> JSON {
        var members: [String: JSON] = ["backend": .string(address)]
        members["rps_prefix"] = try optionalString("prefix").map(JSON.string)
        members["clientID"] = try optionalString("clientID").map(JSON.string)
        members["authorities"] = try optionalString("authorities").map(JSON.string)
        members["headers"] = self["headers"]
        return .object(members)
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``
    fileprivate func mpinLogin() throws(AgentError) -> MPinLoginRequest {
        let name = try optionalString("by") ?? MPinLoginWay.login.rawValue
        guard let way = MPinLoginWay(rawValue: name) else {
            throw .badRequest(
                member: "by", fault: "is not one of \(MPinLoginWay.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let number = try optionalString("accessNumber")
        guard (number != nil) == (way == .accessNumber) else {
            throw .badRequest(
                member: "accessNumber", fault: "is required with access-number, and not allowed otherwise")
        }
        return MPinLoginRequest(way: way, accessNumber: number ?? "")
    }
}
