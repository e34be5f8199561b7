import AgentCore
import AgentMessages
import Cryptography
import Groundwork
import LocalAPI
import Messaging

/// Making accounts at brokers.
extension BrokersFeature {
    func addAccountRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/brokers", needs: .operate,
            .init(
                "Make an account at a broker; the board's messages go to it if they go nowhere else",
                body: Schema.newBrokerAccount, required: ["name", "url"],
                answer: .account(of: self.host.featureTypes))
        ) { request in
            let body = RequestBody(request)
            guard let name = AccountName(try body.string("name")) else { throw AccountError.nameInvalid }
            let account = try body.brokerAccount(name)
            if case .token = account.secret {
                guard request.isOwner else { throw BrokerError.tokenForOwnersOnly }
                guard account.tls != nil || account.addresses.allSatisfy(\.isLoopback) else {
                    throw BrokerError.tokenWithoutTLS
                }
            }
            let certificate = try body.optionalString("certificate")
            let key = try body.optionalString("key")
            guard (certificate == nil) == (key == nil) else {
                throw AgentError.badRequest(member: "key", fault: "needs certificate, and the other way round")
            }
            guard certificate == nil || account.tls != nil else {
                throw AgentError.badRequest(member: "certificate", fault: "needs TLS: mqtts:// or wss://")
            }
            let chain = try certificate.map { try Certificate.some(inPEM: $0) } ?? []
            try await self.kind.add(
                account, name, chain: chain, key: key.map { SecretBytes(utf8: $0) },
                carries: try body.optionalBool("forMessages"))
            // Its state then is that of the first attempt to connect.
            try await self.kind.settle(name)
            await self.kind.keeper(of: name)?.brokerSession?.messenger.settle()
            return .json(try await self.host.accounts.report(name))
        }
    }
}

extension BrokerAddress {
    /// Whether what is sent there stays on this machine.
    fileprivate var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") && isIPv4 }

    private var isIPv4: Bool { host.allSatisfy { $0.isNumber || $0 == "." } }
}

extension RequestBody {
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `CryptographyError`
    fileprivate func brokerAccount(_ name: AccountName) throws -> BrokerAccount {
        guard let url = BrokerURL(try string("url")) else {
            throw AgentError.badRequest(
                member: "url", fault: "is not an address of a broker, such as mqtts://broker.example:8883")
        }
        var account = BrokerAccount(
            name: name.text, address: url.address, tls: nil, clientID: try optionalString("clientID") ?? "")
        account.others = try fallbacks(isProtected: url.isProtected)
        let authorities = try optionalString("authorities")
        if url.isProtected {
            var security = try ServerSecurity(authorities: authorities)
            if try bool("public", default: false) { security.usesPublicAnchors = true }
            security.nameCheck = try nameCheck() ?? .strict
            account.tls = BrokerAccount.TLS(security: security, alpn: try optionalString("alpn") ?? "")
        } else if let member = ["authorities", "public", "alpn", "nameCheck"].first(where: { self[$0] != nil }) {
            throw AgentError.badRequest(member: member, fault: "has no use without TLS: mqtts:// or wss://")
        }
        account.userName = try optionalString("userName") ?? ""
        let token = try optionalString("tokenOf")
        if let password = try optionalString("password") {
            guard token == nil, !account.userName.isEmpty else {
                throw AgentError.badRequest(member: "password", fault: "needs userName, and not tokenOf")
            }
            account.secret = .sealed(SecretBytes(utf8: password))
        } else if let token {
            guard let of = AccountName(token) else { throw AccountError.nameInvalid }
            account.secret = .token(of: of, scope: try optionalString("tokenScope"))
            // MQTT 3.1.1 section 3.1.2.9: no password without a user name.
            if account.userName.isEmpty { account.userName = of.text }
        }
        account.topics = try optionalString("topics") ?? BrokerAccount.presetTopics
        account.keepAliveSeconds = Int(try integer("keepAliveSeconds", in: 5...65_535, default: 60))
        return account
    }

    private func fallbacks(isProtected: Bool) throws(AgentError) -> [BrokerAddress] {
        guard let given = self["fallbacks"], given != .null else { return [] }
        let urls = given.array?.compactMap { $0.string.flatMap(BrokerURL.init) } ?? []
        guard urls.count == given.array?.count, urls.count <= BrokerWaySettings.limit,
            urls.allSatisfy({ $0.isProtected == isProtected })
        else {
            throw .badRequest(
                member: "fallbacks", fault: "is not a list of at most 7 addresses, with TLS or without as url is")
        }
        return urls.map(\.address)
    }

    private func nameCheck() throws -> ServerSecurity.NameCheck? {
        guard let text = try optionalString("nameCheck") else { return nil }
        guard let check = ServerSecurity.NameCheck(rawValue: text) else {
            throw AgentError.badRequest(member: "nameCheck", fault: "is not strict, common-name or off")
        }
        return check
    }
}

extension Schema {
    fileprivate static var newBrokerAccount: [String: Schema] {
        [
            "name": accountName,
            "url": .string("the broker: mqtts://HOST[:PORT], mqtt://HOST[:PORT], wss://HOST[:PORT]/PATH or ws://…"),
            "fallbacks": .array(of: .string("as url"), "brokers to try while the first does not answer, at most 7"),
            "userName": .string("user name of the login"),
            "password": Schema.string("password of the login").asSensitive,
            "certificate": .string("the board's certificate in PEM, with its issuers after it"),
            "key": Schema.string("the key of the certificate: PKCS#8 in PEM, unencrypted").asSensitive,
            "tokenOf": .string("an account of this board, whose access token is the password"),
            "tokenScope": .string("scopes of the token, separated by blanks"),
            "authorities": .string("certificates in PEM; without them, those that the system trusts"),
            "public": .boolean("whether those that the system trusts are taken beside authorities"),
            "nameCheck": .string(
                "how the certificate must name the host; strict by default",
                choices: ServerSecurity.NameCheck.allCases.map(\.rawValue)),
            "alpn": .string("protocol that TLS names (ALPN), such as mqtt at port 443"),
            "clientID": .string("MQTT client identifier; by default one that no other board has"),
            "topics": .string("the board's topics: ends with {name}; \(BrokerAccount.presetTopics) by default"),
            "keepAliveSeconds": .integer("longest silence on the connection; 60 by default", in: 5...65_535),
            "forMessages": .boolean("whether the board's messages go to it; by default if they go nowhere else"),
        ]
    }
}
