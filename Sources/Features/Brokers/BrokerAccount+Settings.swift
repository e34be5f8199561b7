import AgentCore
import AgentMessages
import Cryptography
import Groundwork
import Messaging
import Settings

/// The accounts at brokers that the settings have: `[[brokers]]`.
extension BrokerAccount {
    /// The most of them: each in use has a connection and a thread.
    package static let limit = 8
    /// The largest file of certificates, in bytes.
    private static let fileLimit = 65_536
    /// The longest payload of a will, in bytes.
    private static let willLimit = 4096

    package static func read(from root: inout SettingsTable) -> (
        brokers: [BrokerAccount], faults: [SettingsFault]
    ) {
        var brokers: [BrokerAccount] = []
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

    private static func read(_ table: inout SettingsTable) -> BrokerAccount? {
        _ = table.string("name", required: "write a name, such as \"plant\"")
        _ = table.string("host", required: "write a host name or an address")
        var (name, host, usesTLS, port) = ("", "", true, 0)
        table.string("name", &name, .accountName)
        table.string("host", &host, .hostOrEmpty)
        table.flag("tls", &usesTLS)
        table.integer("port", &port, in: 1...65_535)
        let tls = readTLS(&table, isUsed: usesTLS)
        let address = BrokerAddress(
            host: host, port: port > 0 ? port : usesTLS ? BrokerAddress.standardPort : BrokerAddress.plainPort)
        var broker = BrokerAccount(name: name, address: address, tls: tls, clientID: "")
        broker.isPreset = true
        table.string("client_id", &broker.clientID, .any)
        table.string("user_name", &broker.userName, .any)
        var passwordFile = ""
        table.string("password_file", &passwordFile, .absolutePathOrEmpty)
        if !passwordFile.isEmpty { broker.secret = .file(passwordFile) }
        table.flag("clean_session", &broker.cleanSession)
        table.integer("keep_alive_seconds", &broker.keepAliveSeconds, in: 5...65_535)
        table.string("topics", &broker.topics, .topicTemplate)
        broker.way.read(&table)
        let brokers = broker.way.all(first: address, standardPort: address.port)
        (broker.address, broker.others) = (brokers[0], Array(brokers.dropFirst()))
        broker.will = readWill(&table)
        if !broker.cleanSession, broker.clientID.isEmpty {
            table.note("client_id", "is missing", fix: "name the client whose session the broker keeps")
        }
        if !passwordFile.isEmpty, broker.userName.isEmpty {
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
                key, "the settings cannot hold a client certificate, whose key belongs into the sealed store",
                fix: "leave it out and make an account: latchkey accounts add NAME --broker URL --certificate FILE")
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
}

extension AgentConfiguration {
    package var brokers: [BrokerAccount] {
        get { self[TypedList<BrokerAccount>.self].all }
        set { self[TypedList<BrokerAccount>.self].all = newValue }
    }
}
