import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import OAuthAccounts
import Prompts
import Proximity

/// User logins on this board, by every method.
extension Agent {
    nonisolated func addUserRoutes(to router: inout Router) {
        router.on("GET", "/v1/user", needs: .read, .init("Who is logged in", answer: .user)) { request in
            if let account = try await self.oauthAccount(of: request) { return .json(await self.user(of: account)) }
            return .json(
                try await self.account(of: request).session.user()?.json(at: self.time.now) ?? ["loggedIn": false])
        }
        router.on(
            "GET", "/v1/user/info", needs: .operate,
            .init(
                "The profile of the user who is logged in, from the gateway",
                answer: Schema.openObject("the claims of OpenID Connect that the gateway releases").asSensitive)
        ) { request in
            if let account = try await self.oauthAccount(of: request) { return .json(try await account.userInfo()) }
            return .json(try await self.account(of: request).session.userInfo())
        }
        router.on(
            "POST", "/v1/login", needs: .operate,
            .init(
                "Log in by user name and password; registers a board that is not registered",
                body: [
                    "userName": .string("as the gateway knows it"),
                    "password": Schema.string("it is not kept").asSensitive, "scope": Self.logInScope,
                ],
                required: ["userName", "password"], answer: .user)
        ) { request in
            let body = try RequestBody(request)
            let password = SecretBytes(utf8: try body.string("password"))
            if let account = try await self.oauthAccount(of: request) {
                _ = try await account.logIn(
                    userName: try body.string("userName"), password: password,
                    scope: try body.optionalString("scope"))
                return .json(await self.user(of: account))
            }
            try body.refuseScope()
            return .json(
                try await self.account(of: request).session
                    .logIn(userName: try body.string("userName"), password: password).json(at: self.time.now))
        }
        router.on(
            "POST", "/v1/login/prompted", needs: .operate,
            .init(
                "Log in by user name, and a password that is asked for by a prompt; ends when its reader disconnects",
                body: [
                    "userName": .string("as the gateway knows it"),
                    "answerers": .string(
                        "who may answer: operators, unless given, or only the user who asks here",
                        choices: ["operators", "user"]),
                ], required: ["userName"],
                events: ["prompt.*": .promptStep, "logged-in": .user])
        ) { request in
            let body = try RequestBody(request)
            let answerers = try body.optionalString("answerers") ?? "operators"
            guard ["operators", "user"].contains(answerers) else {
                throw AgentError.badRequest(member: "answerers", fault: "is neither operators nor user")
            }
            return .events(
                self.logInPrompted(
                    as: try body.string("userName"),
                    answerers: answerers == "user" ? .user(uid: request.peer.uid) : .operators,
                    at: try await self.account(of: request).session))
        }
        router.on(
            "POST", "/v1/login/nearby", needs: .operate,
            .init(
                "Log in with the session of a device nearby; ends when its reader disconnects",
                body: [
                    "by": .string("the way", choices: ["bluetooth", "qr"]),
                    "user": .string("who is expected; when another user lets this board in, nobody is logged in"),
                ], required: ["by"],
                events: [
                    "qr-code": .object(
                        [
                            "text": Schema.string("what to show").asSensitive,
                            "svg": Schema.string("a picture of it").asSensitive,
                            "png": Schema.base64("a picture of it").asSensitive,
                        ], required: ["text", "svg", "png"]),
                    "logged-in": .user, "proximity.*": .proximityStep,
                ])
        ) { request in
            let body = try RequestBody(request)
            let way = try body.string("by")
            guard ["bluetooth", "qr"].contains(way) else {
                throw AgentError.badRequest(member: "by", fault: "is neither bluetooth nor qr")
            }
            return .events(
                self.logInNearby(
                    by: way, as: try body.optionalString("user"), at: try await self.account(of: request).session))
        }
        router.on(
            "POST", "/v1/login/browser", needs: .operate,
            .init(
                "Begin to log in by authorization code: what to open in a browser", body: ["scope": Self.logInScope],
                answer: .object(
                    [
                        "id": .string("of this login"), "url": Schema.string("to open").asSensitive,
                        "provider": .string("who asks for the password"),
                    ], required: ["id", "url", "provider"]))
        ) { request in
            let body = try RequestBody(request)
            if let account = try await self.oauthAccount(of: request) {
                return .json(try await self.beginBrowser(at: account, scope: try body.optionalString("scope")))
            }
            try body.refuseScope()
            return .json(try await self.browserLogIns.begin(at: try await self.account(of: request).session))
        }
        router.on(
            "POST", "/v1/login/browser/{id}", needs: .operate,
            .init(
                "Log in with the address that the browser was redirected to",
                body: ["answer": Schema.string("the address, with code and state").asSensitive], required: ["answer"],
                answer: .user)
        ) { request in
            let answer = try RequestBody(request).string("answer")
            if let account = try await self.oauthAccount(of: request) {
                _ = try await account.endBrowser(request.parameters["id"] ?? "", answer: answer)
                return .json(await self.user(of: account))
            }
            return .json(
                try await self.browserLogIns.end(
                    request.parameters["id"] ?? "", answer: answer, at: try await self.account(of: request).session
                ).json(at: self.time.now))
        }
        router.on(
            "POST", "/v1/logout", needs: .operate,
            .init(
                "Log out, at the gateway and then here",
                body: ["force": .boolean("here also when the gateway does not answer")], answer: .user)
        ) { request in
            let force = try RequestBody(request).bool("force", default: false)
            if let account = try await self.oauthAccount(of: request) {
                let user = try await account.logOut(force: force)
                return .json(["loggedIn": false, "userName": user?.name.map(JSON.string) ?? .null])
            }
            let session = try await self.account(of: request).session
            let name = try await session.user()?.userName
            try await session.logOut(force: force)
            return .json(["loggedIn": false, "userName": name.map(JSON.string) ?? .null])
        }
    }

    /// The login lasts for as long as its events are read.
    private nonisolated func logInNearby(
        by way: String, as expected: String?, at session: GatewaySession
    ) -> AsyncThrowingStream<LocalEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let steps = nearby.events.subscribe()
            let forwarding = Task {
                for await event in steps {
                    let details = event.details.merging(["text": .string(event.description)]) { own, _ in own }
                    continuation.yield(LocalEvent(name: event.name, data: .object(details)))
                }
            }
            let logIn = Task {
                // Events before the end are read before the end: a canceled reader still gets the waiting ones.
                func forwardTheRest() async {
                    forwarding.cancel()
                    await forwarding.value
                }
                do {
                    let name =
                        way == "qr"
                        ? try await nearby.logIn.byQRCode(at: session, as: expected) { text in
                            continuation.yield(LocalEvent(name: "qr-code", data: try QRCode(text).json(of: text)))
                        }
                        : try await nearby.logIn.byBluetooth(at: session, as: expected)
                    await forwardTheRest()
                    continuation.yield(
                        LocalEvent(name: "logged-in", data: ["loggedIn": true, "userName": .string(name)]))
                    continuation.finish()
                } catch {
                    await forwardTheRest()
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in
                forwarding.cancel()
                logIn.cancel()
            }
        }
    }
}

extension QRCode {
    /// The code as data: its text, and images for a display or a web page.
    fileprivate func json(of text: String) -> JSON {
        ["text": .string(text), "svg": .string(svg), "png": .string(Base64.encode(png(scale: 4)))]
    }
}

extension UserStatus {
    func json(at now: Date) -> JSON {
        var members: [String: JSON] = ["loggedIn": true, "loggedInAt": .string(loggedInAt.formatted(.iso8601))]
        if let userName { members["userName"] = .string(userName) }
        if let idTokenExpiresAt { members["sessionEnds"] = .string(idTokenExpiresAt.formatted(.iso8601)) }
        if let token { members["tokenLifeLeft"] = .integer(Int64(token.expiresAt.timeIntervalSince(now))) }
        return .object(members)
    }
}
