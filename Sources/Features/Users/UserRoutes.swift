import AgentCore
import AgentGateway
import AgentNearby
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Prompts
import Proximity

/// User logins on this board, by every method.
extension UsersFeature {
    func addUserRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/user", needs: .read,
            .init("Who is logged in, and whose token calls use", answer: Self.authenticationSchema)
        ) { request in
            let name = try request.accountName()
            return .json(try await self.host.accounts.ability(\.users, of: name).user(at: name))
        }
        router.on(
            "GET", "/v1/user/info", needs: .operate,
            .init(
                "The profile of the user who is logged in, from the gateway",
                answer: Schema.openObject("the claims of OpenID Connect that the gateway releases").asSensitive)
        ) { request in
            let name = try request.accountName()
            return .json(try await self.host.accounts.ability(\.users, of: name).profile(at: name))
        }
        router.on(
            "GET", "/v1/user/profile", needs: .operate,
            .init(
                "What the gateway last said about the user who is logged in, without asking it",
                answer: .object(Self.profileMembers, required: ["updatedAt", "claims"]))
        ) { request in
            guard let profile = try await self.gateways.account(of: request).session.userProfile() else {
                throw AgentError.noProfile
            }
            var members = profile.attributes
            members["updatedAt"] = .string(profile.updatedAt.formatted(.iso8601))
            members["claims"] = profile.claims
            return .json(.object(members))
        }
        router.on(
            "GET", "/v1/user/session", needs: .operate,
            .init(
                "Whether the user's session at the gateway is still valid",
                answer: .object(all: ["session": .string("the gateway's answer: active, none, or another")]))
        ) { request in
            .json(["session": .string(try await self.gateways.account(of: request).session.sessionStatus())])
        }
        router.on(
            "POST", "/v1/login", needs: .operate,
            .init(
                "Log in by user name and password; registers a board that is not registered",
                body: [
                    "userName": .string("user name at the gateway"),
                    "password": Schema.string("or the PIN, at an M-Pin back end; it is not kept").asSensitive,
                    "scope": .logInScope,
                ],
                required: ["userName", "password"], answer: .user)
        ) { request in
            let body = RequestBody(request)
            let password = SecretBytes(utf8: try body.string("password"))
            let name = try request.accountName()
            return .json(
                try await self.host.accounts.ability(\.users, of: name).logIn(
                    try body.string("userName"), password, scope: try body.optionalString("scope"), at: name))
        }
        router.on(
            "POST", "/v1/login/prompted", needs: .operate,
            .init(
                "Log in with a user name, and a password that a prompt asks for; ends when its reader disconnects",
                body: [
                    "userName": .string("user name at the gateway"),
                    "answerers": .string(
                        "who may answer: operators by default, or only the user who calls",
                        choices: ["operators", "user"]),
                ], required: ["userName"],
                events: ["prompt.*": .promptStep, "logged-in": .user])
        ) { request in
            let body = RequestBody(request)
            let name = try request.accountName()
            return .events(
                try await self.host.logInPrompted(
                    by: try await self.host.accounts.ability(\.users, of: name),
                    userName: try body.string("userName"), answerers: try body.answerers(of: request), at: name))
        }
        router.on(
            "POST", "/v1/login/nearby", needs: .operate,
            .init(
                "Log in with the session of a device nearby; ends when its reader disconnects",
                body: [
                    "by": .string("the way", choices: ["bluetooth", "qr"]),
                    "user": .string("expected approver; a login approved by anyone else is rejected"),
                ], required: ["by"],
                events: [
                    "qr-code": .qrCode,
                    "logged-in": .user, "proximity.*": .proximityStep,
                ])
        ) { request in
            let body = RequestBody(request)
            let way = try body.string("by")
            guard ["bluetooth", "qr"].contains(way) else {
                throw AgentError.badRequest(member: "by", fault: "is neither bluetooth nor qr")
            }
            return .events(
                self.logInNearby(
                    by: way, as: try body.optionalString("user"),
                    at: try await self.gateways.account(of: request).session))
        }
        router.on(
            "POST", "/v1/logout", needs: .operate,
            .init(
                "Log out, at the gateway and then here",
                body: [
                    "force": .boolean(
                        "log out here even if the gateway does not answer; default: not login.keep_user_on_error"),
                    "allPrograms": .boolean(
                        "true: end the session of every program of this device, false: only this board's own; by "
                            + "default all of them if single sign-on is on at the gateway"),
                ], answer: .user)
        ) { request in
            let body = RequestBody(request)
            let name = try request.accountName()
            return .json(
                try await self.host.accounts.ability(\.users, of: name).logOut(
                    force: try body.optionalBool("force"), allPrograms: try body.optionalBool("allPrograms"), at: name))
        }
    }

    private static var authenticationSchema: Schema {
        .object(
            Schema.userMembers.merging([
                "status": .string(
                    "whether a user is logged in, the user's session is locked, only the board itself has a token, "
                        + "or none of these",
                    choices: ["locked"] + Authentication.allCases.map(\.rawValue)),
                "flow": .string(
                    "default grant for calls without `as` when no user is logged in",
                    choices: ["client-credentials", "password"]),
            ]) { own, _ in own }, required: ["loggedIn"])
    }

    /// All but the time is personal.
    private static var profileMembers: [String: Schema] {
        func text(_ what: String) -> Schema { .string(what).asSensitive }
        func list(_ what: String) -> Schema {
            .array(of: .any(of: [.string("a text"), .openObject("its parts")]), what).asSensitive
        }
        return [
            "userName": text("user name at the gateway"), "formattedName": text("for people"),
            "givenName": text("given name"), "middleName": text("middle name"), "familyName": text("family name"),
            "emails": list("email addresses"), "phones": list("telephone numbers"),
            "photos": list("addresses of pictures"), "addresses": list("postal addresses"),
            "groups": list("groups that the user belongs to"), "updatedAt": .time("when the gateway last updated it"),
            "claims": Schema.openObject("all claims that the gateway released, by their OpenID Connect names")
                .asSensitive,
        ]
    }

    /// The login lasts for as long as its events are read.
    private func logInNearby(
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
