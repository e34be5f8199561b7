import AgentCore
import AgentMessages
import Cryptography
import Groundwork
import Messaging
import Vault

/// An account as the vault has it: a record with a JSON document, beside the key of its certificate.
extension BrokerAccount {
    /// What the record of the account's name says of its kind.
    static let kind = "broker"

    static func scope(of name: String) -> String { "account/" + name }
    static func record(of name: String) -> RecordName { RecordName(scope: scope(of: name), name: kind) }

    /// What adds the account to the vault.
    var additions: [Change] {
        let entry = JSON.object(["kind": .string(Self.kind), "scope": .string(Self.scope(of: name))])
        return [
            .put(Self.record(of: name), .clientCredentials, SecretBytes(document.bytes)),
            .put(AccountEntries.record(of: name), .configuration, SecretBytes(entry.bytes)),
        ]
    }

    /// What removes it.
    static func removals(of name: String) -> [Change] {
        [.remove(record(of: name)), .remove(AccountEntries.record(of: name))]
    }

    /// Whether a record is of no use without the key of an account's certificate.
    ///
    /// - Parameter keyScopes: the scopes that have a private key.
    static func needsKey(_ name: RecordName, _ keyScopes: Set<String>) -> Bool {
        if let account = AccountEntries.account(of: name) { return keyScopes.contains(scope(of: account)) }
        return name.scope.hasPrefix(scope(of: "")) && name.name == kind && keyScopes.contains(name.scope)
    }

    private var document: JSON {
        var members: [String: JSON] = [
            "brokers": .array(([address] + others).map(Self.document)), "clientID": .string(clientID),
            "topics": .string(topics), "keepAliveSeconds": .integer(Int64(keepAliveSeconds)),
            "carriesMessages": .bool(carriesMessages),
        ]
        if let tls {
            members["tls"] = .object([
                "authorities": .string(tls.security.anchors.map(\.pem).joined()),
                "public": .bool(tls.security.usesPublicAnchors), "alpn": .string(tls.alpn),
                "nameCheck": .string(tls.security.nameCheck.rawValue),
            ])
        }
        if !userName.isEmpty { members["userName"] = .string(userName) }
        switch secret {
        case .none, .file: break
        case .sealed(let password): members["password"] = .string(password.exposedText())
        case .token(let account, let scope):
            members["tokenOf"] = .string(account.text)
            members["tokenScope"] = scope.map(JSON.string)
        }
        if let identity {
            members["certificates"] = .string(identity.chain.map(\.pem).joined())
            members["key"] = .string(identity.key.description)
        }
        return .object(members)
    }

    private static func document(_ address: BrokerAddress) -> JSON {
        [
            "host": .string(address.host), "port": .integer(Int64(address.port)),
            "webSocketPath": address.webSocketPath.map(JSON.string) ?? .null,
        ]
    }

    private static func address(_ document: JSON) -> BrokerAddress? {
        guard let host = document["host"]?.string, let port = document["port"]?.integer.flatMap({ Int(exactly: $0) }),
            (1...65_535).contains(port)
        else { return nil }
        let path = document["webSocketPath"]?.string
        guard path.map(BrokerAddress.isWebSocketPath) != false else { return nil }
        return BrokerAddress(host: host, port: port, webSocketPath: path)
    }

    /// - Throws: ``BrokerError/recordInvalid(_:)``
    init(record: Record, of name: AccountName) throws(BrokerError) {
        guard let document = try? JSON(parsing: record.content.exposed()), let account = Self(document, name: name.text)
        else { throw .recordInvalid(name.text) }
        self = account
    }

    private init?(_ document: JSON, name: String) {
        let addresses = document["brokers"]?.array?.compactMap(Self.address) ?? []
        guard let first = addresses.first, addresses.count == document["brokers"]?.array?.count,
            let clientID = document["clientID"]?.string,
            let topics = document["topics"]?.string, let keepAlive = document["keepAliveSeconds"]?.integer
        else { return nil }
        self.init(name: name, address: first, tls: nil, clientID: clientID)
        others = Array(addresses.dropFirst())
        (self.topics, keepAliveSeconds) = (topics, Int(keepAlive))
        carriesMessages = document["carriesMessages"]?.bool ?? false
        userName = document["userName"]?.string ?? ""
        if let tls = document["tls"] {
            guard let authorities = tls["authorities"]?.string,
                let nameCheck = tls["nameCheck"]?.string.flatMap(ServerSecurity.NameCheck.init),
                let anchors = authorities.isEmpty ? [] : try? Certificate.some(inPEM: authorities)
            else { return nil }
            self.tls = TLS(
                security: ServerSecurity(
                    anchors: anchors, usesPublicAnchors: tls["public"]?.bool ?? false, nameCheck: nameCheck),
                alpn: tls["alpn"]?.string ?? "")
        }
        if let password = document["password"]?.string {
            secret = .sealed(SecretBytes(utf8: password))
        } else if let account = document["tokenOf"]?.string {
            guard let account = AccountName(account) else { return nil }
            secret = .token(of: account, scope: document["tokenScope"]?.string)
        }
        if let certificates = document["certificates"]?.string {
            guard let chain = try? Certificate.some(inPEM: certificates),
                let key = document["key"]?.string.flatMap({ KeyReference($0) })
            else { return nil }
            identity = Identity(chain: chain, key: key)
        }
    }
}
