import Foundation
import Groundwork
import Synchronization

/// Decides for the broker's plugin who may connect, publish and subscribe (protocol in LabBrokerPlugin.h).
final class BrokerGate: Sendable {
    private let store: GatewayStore
    private let journal: Journal
    private let connections = Mutex(BrokerConnections())

    init(store: GatewayStore, journal: Journal) {
        self.store = store
        self.journal = journal
    }

    /// Connected client ids, with the time at which they connected.
    var sessions: [String: Date] { connections.withLock { $0.sessions } }

    /// No client is connected to a broker whose plugin has hung up.
    func forgetSessions() { connections.withLock { $0 = BrokerConnections() } }

    /// What the plugin does with a client's packet.
    enum Verdict: Sendable {
        case allow
        case deny
        /// This message is published.
        case denyAndReport(topic: String, payload: [UInt8])

        fileprivate init(_ isAllowed: Bool) { self = isAllowed ? .allow : .deny }

        /// The line for the plugin, without its line feed.
        var line: String {
            switch self {
            case .allow: "allow"
            case .deny: "deny"
            case .denyAndReport(let topic, let payload): "deny \(Hex.encode(Array(topic.utf8))) \(Hex.encode(payload))"
            }
        }
    }

    /// Answers one line of the plugin, without its line feed.
    /// - Returns: `nil` if no answer is expected.
    func verdict(on line: String) async -> Verdict? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard let clientID = fields.dropFirst().first.flatMap(Self.text) else { return .deny }
        switch (fields[0], fields.count) {
        case ("connect", 6): return Verdict(await connect(clientID, fields))
        case ("publish", 7): return await publish(clientID, fields)
        case ("subscribe", 3): return Verdict(await subscribe(clientID, fields))
        case ("bye", 3):
            switch UInt64(fields[2]).map({ number in connections.withLock { $0.remove(number) } }) {
            case .left: note("disconnected", clientID)
            case .takenOver: note("its earlier connection was taken over", clientID)
            case .unknown, nil: break
            }
            return nil
        default: return .deny
        }
    }

    private func connect(_ clientID: String, _ fields: [String]) async -> Bool {
        guard let connection = UInt64(fields[2]), let userName = Self.text(fields[3]),
            let password = Self.text(fields[4]), let certificate = Self.bytes(fields[5])
        else { return false }
        let login = GatewayCore.BrokerLogin(
            clientID: clientID, userName: userName, password: password,
            certificate: certificate.isEmpty ? nil : certificate)
        let now = store.clock.now
        let denial: BrokerDenial? = await store.read { core in
            do throws(BrokerDenial) {
                try core.admit(login, now: now)
                return nil
            } catch {
                return error
            }
        }
        if let denial {
            note("refused: \(denial.reason)", clientID)
            return false
        }
        connections.withLock { $0.add(connection, of: clientID, at: now) }
        note("connected", clientID)
        return true
    }

    private func publish(_ clientID: String, _ fields: [String]) async -> Verdict {
        guard let qos = Int(fields[2]), let retain = Int(fields[3]), let size = Int(fields[4]),
            let topic = Self.text(fields[5]), let payload = Self.bytes(fields[6])
        else { return .deny }
        let (allowed, report) = await store.read { core in
            let prefix = core.configuration.prefix
            guard let sender = try? core.brokerIdentity(ofClientID: clientID) else { return (false, String?.none) }
            guard let address = GatewayTopic(topic, prefix: prefix), !GatewayTopic.isError(topic),
                core.mayPublish(sender, to: address)
            else { return (false, sender.errorTopic(prefix: prefix)) }
            return (true, nil)
        }
        guard allowed else {
            let reason = "may not publish to \(DisplayText.oneLine(topic, limit: 200))"
            note(reason, clientID)
            // MQTT 3.1.1 acknowledges what is not passed on: without this the sender would not notice.
            return report.map { .denyAndReport(topic: $0, payload: JSON.object(["message": .string(reason)]).bytes) }
                ?? .deny
        }
        journal.record(
            LabMessage(
                time: store.clock.now, sender: clientID, topic: topic, qos: qos, retained: retain != 0, size: size,
                payload: payload))
        return .allow
    }

    private func subscribe(_ clientID: String, _ fields: [String]) async -> Bool {
        guard let filter = Self.text(fields[2]) else { return false }
        let allowed = await store.read { core in
            guard let address = GatewayTopic(filter, prefix: core.configuration.prefix),
                let reader = try? core.brokerIdentity(ofClientID: clientID)
            else { return false }
            return core.maySubscribe(reader, to: address)
        }
        note(allowed ? "subscribed to \(filter)" : "may not subscribe to \(filter.prefix(200))", clientID)
        return allowed
    }

    private func note(_ text: String, _ clientID: String) {
        let magIdentifier = clientID.components(separatedBy: "::")[0].prefix(64)
        journal.record(.broker, text, magIdentifier: String(magIdentifier), at: store.clock.now)
    }

    private static func bytes(_ field: String) -> [UInt8]? { field == "-" ? [] : Hex.decode(field) }
    private static func text(_ field: String) -> String? {
        bytes(field).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
