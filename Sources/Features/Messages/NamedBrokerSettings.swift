import AgentCore
import Cryptography
import Groundwork
import Messaging
import Settings

/// A broker beside the gateway's, as the settings name it: `[[brokers]]`.
package struct NamedBrokerSettings: Sendable, Equatable {
    /// The most brokers: each in use has a connection and a thread.
    package static let limit = 8
    /// The largest file of certificates, in bytes.
    private static let fileLimit = 65_536
    /// The longest payload of a will, in bytes.
    private static let willLimit = 4096

    package var name: String
    package var address: BrokerAddress
    /// How it has to prove itself; `nil` connects without TLS.
    package var tls: TLS?
    package var clientID: String
    /// Empty: none.
    package var userName = ""
    /// Absolute path of the password's file; empty: none.
    package var passwordFile = ""
    package var cleanSession = true
    package var keepAliveSeconds = 60
    package var will: Will?
    package var way = BrokerWaySettings()

    package struct TLS: Sendable, Equatable {
        package var security = ServerSecurity()
        /// The protocol that is named to the server (ALPN, RFC 7301); empty: none.
        package var alpn = ""
    }

    // MARK: Reading

    package static func read(from root: inout SettingsTable) -> (
        brokers: [NamedBrokerSettings], faults: [SettingsFault]
    ) {
        var brokers: [NamedBrokerSettings] = []
        var faults: [SettingsFault] = []
        for var table in root.tables("brokers", atMost: limit) {
            if let broker = read(&table) {
                if brokers.contains(where: { $0.name == broker.name }) {
                    table.note("name", "\(broker.name) is used twice", fix: "give each its own name")
                }
                brokers.append(broker)
            }
            faults += table.faults
        }
        return (brokers, faults)
    }

    private static func read(_ table: inout SettingsTable) -> NamedBrokerSettings? {
        _ = table.string("name", required: "write a name, such as \"plant\"")
        _ = table.string("host", required: "write a host name or an address")
        var (name, host, usesTLS, port) = ("", "", true, 0)
        table.string("name", &name, .accountName)
        table.string("host", &host, .hostOrEmpty)
        table.flag("tls", &usesTLS)
        table.integer("port", &port, in: 1...65_535)
        let tls = readTLS(&table, isUsed: usesTLS)
        let address = BrokerAddress(host: host, port: port > 0 ? port : usesTLS ? BrokerAddress.standardPort : 1883)
        var broker = NamedBrokerSettings(name: name, address: address, tls: tls, clientID: "")
        table.string("client_id", &broker.clientID, .any)
        table.string("user_name", &broker.userName, .any)
        table.string("password_file", &broker.passwordFile, .absolutePathOrEmpty)
        table.flag("clean_session", &broker.cleanSession)
        table.integer("keep_alive_seconds", &broker.keepAliveSeconds, in: 5...65_535)
        broker.way.read(&table)
        if !broker.way.webSocketPath.isEmpty { broker.address.webSocketPath = broker.way.webSocketPath }
        broker.will = readWill(&table)
        if !broker.cleanSession, broker.clientID.isEmpty {
            table.note("client_id", "is missing", fix: "name the client whose session the broker keeps")
        }
        if !broker.passwordFile.isEmpty, broker.userName.isEmpty {
            table.note("user_name", "is missing", fix: "a password needs a user name (MQTT 3.1.1)")
        }
        table.refuseUnknownKeys()
        return table.faults.isEmpty ? broker : nil
    }

    private static func readTLS(_ table: inout SettingsTable, isUsed: Bool) -> TLS? {
        var tls = TLS()
        table.flag("public_authorities", &tls.security.usesPublicAnchors)
        table.choice("name_check", &tls.security.nameCheck, ServerTrust.NameCheck.allCases.map { ($0.rawValue, $0) })
        table.string("alpn", &tls.alpn, .applicationProtocol)
        for key in ["client_certificate", "client_key"] where table.string(key) != nil {
            table.note(
                key, "client certificates of other brokers are not supported yet",
                fix: "leave it out; user_name and password_file log in, and the gateway's broker gets the board's own")
        }
        let files = table.strings("certificates") ?? []
        guard isUsed else {
            if !files.isEmpty || tls.security.usesPublicAnchors {
                table.note(
                    "tls", "is false, so nothing is proven", fix: "leave out certificates and public_authorities")
            }
            return nil
        }
        tls.security.anchors = files.flatMap { table.certificates(in: $0, limit: fileLimit) ?? [] }
        if files.isEmpty, !tls.security.usesPublicAnchors {
            table.note(
                "certificates", "there is nothing to verify the broker with",
                fix: "name the certificate of its authority, or set public_authorities or tls = false")
        }
        return tls
    }

    private static func readWill(_ table: inout SettingsTable) -> Will? {
        var (topic, payload, qos, retain) = ("", "", 0, false)
        table.string("will_topic", &topic, .topic)
        table.string("will_payload", &payload, .any)
        table.integer("will_qos", &qos, in: 0...2)
        table.flag("will_retain", &retain)
        if payload.utf8.count > willLimit {
            table.note("will_payload", "has more than \(willLimit) bytes", fix: "shorten it")
        }
        if topic.isEmpty, !payload.isEmpty || qos > 0 || retain {
            table.note("will_topic", "is missing", fix: "name the topic of the will, or leave the other keys out")
        }
        return (try? Topic(topic)).map { Will(topic: $0, payload: Array(payload.utf8), qos: qos, retain: retain) }
    }

    // MARK: Connecting

    /// What to log in with now: the password's file is read each time, so that it may be replaced.
    ///
    /// - Throws: ``AgentError/passwordUnreadable(path:reason:)``, or why there is no TLS.
    package func credentials() throws -> BrokerCredentials {
        let tls = try tls.map { tls in
            try TLSContext(
                trust: tls.security.trust(of: address.certifiedHost), identity: nil,
                applicationProtocol: tls.alpn.isEmpty ? nil : tls.alpn)
        }
        return BrokerCredentials(
            clientID: clientID.isEmpty ? "latchkey-\(String(UInt64.random(in: .min ... .max), radix: 16))" : clientID,
            userName: userName.isEmpty ? nil : userName,
            password: passwordFile.isEmpty ? nil : try SecretFile.password(in: passwordFile), tls: tls)
    }
}

extension AgentConfiguration {
    package var brokers: [NamedBrokerSettings] {
        get { self[TypedList<NamedBrokerSettings>.self].all }
        set { self[TypedList<NamedBrokerSettings>.self].all = newValue }
    }
}
