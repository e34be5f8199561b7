import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import LocalAPI
import OAuth
import OAuthAccounts
import Proximity

/// What only accounts at OAuth servers have.
extension OAuthFeature {
    package func addRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/accounts", needs: .operate,
            .init(
                "Make an account at an OAuth 2.0 or OpenID Connect server", body: Schema.newOAuthAccount,
                required: ["name"], answer: .account(of: self.host.featureTypes))
        ) { request in
            let body = RequestBody(request)
            guard let name = AccountName(try body.string("name")) else { throw AccountError.nameInvalid }
            let server = try body.serverConfiguration()
            let registration = try body.registration(named: self.host.deviceName)
            try await self.host.accounts.add(name, ofKind: self.kind.name) {
                _ = try await self.kind.servers.add(name.text, server, registration: registration)
            }
            return .json(try await self.host.accounts.report(name))
        }
        let path = "/v1/accounts/{account}"
        let scope = ["scope": Schema.string("scopes separated by blanks; by default the account's own")]
        router.on(
            "POST", "\(path)/token", needs: .operate,
            .init(
                "A valid access token for a scope", path: ["account": .accountName], body: scope,
                answer: AccessToken.schema())
        ) { request in
            let scope = try RequestBody(request).optionalString("scope")
            return .json(try await self.kind.account(try request.accountName()).token(scope: scope).json)
        }
        router.on(
            "POST", "\(path)/introspect", needs: .operate,
            .init(
                "What the server says about a token (RFC 7662)", path: ["account": .accountName], body: scope,
                answer: Schema.openObject("the server's answer; active is true if the token is valid").asSensitive)
        ) { request in
            let scope = try RequestBody(request).optionalString("scope")
            return .json(try await self.kind.account(try request.accountName()).introspect(scope: scope))
        }
        router.on(
            "POST", "\(path)/login/assertion", needs: .operate,
            .init(
                "Log in with an assertion (RFC 7521)", path: ["account": .accountName],
                body: scope.merging([
                    "assertion": Schema.string("a JWT, or the XML of a SAML 2.0 assertion").asSensitive
                ]) { own, _ in own }, required: ["assertion"], answer: .user)
        ) { request in
            let body = RequestBody(request)
            let account = try await self.kind.account(try request.accountName())
            _ = try await account.logIn(
                assertion: SecretBytes(utf8: try body.string("assertion")), scope: try body.optionalString("scope"))
            return .json(await self.kind.user(of: account))
        }
        router.on(
            "POST", "\(path)/login/device", needs: .operate,
            .init(
                "Log in with a code that is entered elsewhere (RFC 8628); ends when its reader disconnects",
                body: scope.merging(["picture": .boolean("true: also a QR code of the address, for a phone")]) { $1 },
                events: ["device-code": DeviceAuthorization.answer.schema(), "logged-in": .user])
        ) { request in
            let body = RequestBody(request)
            return .events(
                self.logInByDeviceCode(
                    at: try await self.kind.account(try request.accountName()), scope: try body.optionalString("scope"),
                    hasPicture: try body.bool("picture", default: false)))
        }
    }

    private func logInByDeviceCode(
        at account: OAuthAccount, scope: String?, hasPicture: Bool
    ) -> AsyncThrowingStream<LocalEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4)) { continuation in
            let logIn = Task {
                do {
                    let authorization = try await account.beginDevice(scope: scope)
                    continuation.yield(
                        LocalEvent(
                            name: "device-code", data: DeviceAuthorization.answer.json((authorization, hasPicture))))
                    _ = try await account.awaitDevice(authorization, scope: scope)
                    continuation.yield(LocalEvent(name: "logged-in", data: await kind.user(of: account)))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in logIn.cancel() }
        }
    }
}

extension DeviceAuthorization {
    /// For the person who has to agree.
    fileprivate static let answer: Answer<(code: DeviceAuthorization, hasPicture: Bool)> = [
        "userCode": .schema(Schema.string("code to enter").asSensitive) { $0.code.userCode },
        "address": .of("where to enter it") { $0.code.verificationURI },
        "completeAddress": .schema(Schema.string("the address with the code, for a QR code").asSensitive) {
            $0.code.completeURI
        },
        "expiresIn": .of("in seconds") { Int($0.code.lifetime) },
        "picture": .schema(.qrCode) { $0.hasPicture ? $0.code.picture : nil },
    ]

    private var picture: JSON? {
        // An address that is too long for a code can still be entered.
        let place = completeURI ?? verificationURI
        return (try? QRCode(place))?.json(of: place)
    }
}

extension RequestBody {
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    fileprivate func serverConfiguration() throws(AgentError) -> ServerConfiguration {
        var server = ServerConfiguration()
        server.issuer = try optionalString("issuer")
        server.clientID = try optionalString("clientID") ?? ""
        server.secret = try optionalString("clientSecret").map { SecretBytes(utf8: $0) }
        let preset = server.secret == nil ? ServerConfiguration.Authentication.none : .basic
        server.authentication = try choice("authentication") ?? preset
        server.algorithm = try choice("algorithm", of: JWS.Algorithm.ofOwnKeys) ?? .ES256
        server.grant = try choice("grant") ?? .authorizationCode
        server.scope = try optionalString("scope") ?? ""
        server.redirectURI = try optionalString("redirectURI") ?? server.redirectURI
        server.authorities = try optionalString("authorities")
        server.subject = try optionalString("subject")
        server.audience = try optionalString("audience")
        for (name, value) in self["endpoints"]?.object ?? [:] {
            guard let endpoint = ServerMetadata.Endpoint(rawValue: name), let address = value.string else {
                throw .badRequest(member: "endpoints", fault: "has an unknown endpoint")
            }
            server.endpoints[endpoint] = address
        }
        guard let resources = self["resources"] else { return server }
        guard let texts = resources.array?.compactMap(\.string), texts.count == resources.array?.count,
            texts.count <= 16
        else { throw .badRequest(member: "resources", fault: "is not an array of up to 16 addresses") }
        server.resources = texts
        return server
    }

    /// - Returns: `nil` for a client that the server already knows.
    fileprivate func registration(named name: String) throws(AgentError) -> OAuthAccounts.Registration? {
        guard try bool("register", default: false) else { return nil }
        var registration = OAuthAccounts.Registration()
        registration.clientName = name
        registration.token = try optionalString("registrationToken").map { SecretBytes(utf8: $0) }
        registration.choosesAuthentication = try optionalString("authentication") == nil
        return registration
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable & Equatable>(
        _ member: String, of choices: [Choice] = Array(Choice.allCases)
    ) throws(AgentError) -> Choice? {
        guard let text = try optionalString(member) else { return nil }
        guard let choice = Choice(rawValue: text), choices.contains(choice) else {
            let names = choices.map(\.rawValue).joined(separator: ", ")
            throw .badRequest(member: member, fault: "is not one of \(names)")
        }
        return choice
    }
}

extension Schema {
    static var endpoints: Schema { map(of: .string("an address"), "addresses by their names in RFC 8414") }

    fileprivate static var newOAuthAccount: [String: Schema] {
        [
            "name": accountName,
            "issuer": .string("the server, whose description is fetched; required without endpoints"),
            "endpoints": endpoints,
            "clientID": .string("the board's client ID at the server; required without register"),
            "clientSecret": Schema.string("secret of the client").asSensitive,
            "authentication": .string(
                "how the client authenticates; by default client_secret_basic with a secret, what the server "
                    + "offers with register, otherwise none",
                choices: ServerConfiguration.Authentication.allCases.map(\.rawValue)),
            "algorithm": .string(
                "algorithm of the client's key; ES256 by default",
                choices: JWS.Algorithm.ofOwnKeys.map(\.rawValue)),
            "grant": .string(
                "authorization_code by default", choices: ServerConfiguration.Grant.allCases.map(\.rawValue)),
            "scope": .string("scopes separated by blanks"),
            "redirectURI": .string("\(ServerConfiguration.presetRedirectURI) by default"),
            "resources": .array(
                of: .string("an address"), "addresses that tokens may be sent to; the first is the base of paths"),
            "authorities": .string("certificates in PEM; without them, those that the system trusts"),
            "subject": .string("subject of the assertions that the board signs, for the grant jwt_bearer"),
            "audience": .string(
                "audience of assertions signed with the client's key; default: the issuer, or the token endpoint for "
                    + "the grant jwt_bearer and for a server that does not describe itself"),
            "register": .boolean("whether to register the board as a client (RFC 7591)"),
            "registrationToken": Schema.string("the initial access token, if the registration needs one").asSensitive,
        ]
    }
}
