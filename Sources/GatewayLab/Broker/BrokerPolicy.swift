import Cryptography
import Foundation
import Groundwork

/// Who may connect to the broker (MAG 9.1, MAG checklist 69).
extension GatewayCore {
    /// A client's credentials at CONNECT.
    struct BrokerLogin: Sendable {
        var clientID: String
        var userName: String
        /// The access token.
        var password: String
        /// DER
        var certificate: [UInt8]?
    }

    /// - Throws: ``BrokerDenial`` with the reason, which is not sent to the client.
    func admit(_ login: BrokerLogin, now: Date) throws(BrokerDenial) {
        let identity = try brokerIdentity(ofClientID: login.clientID)
        guard let certificate = login.certificate.flatMap({ try? Certificate(der: $0) }) else {
            throw BrokerDenial(reason: "no client certificate")
        }
        guard certificate.publicKey.spki == identity.device.publicKey else {
            throw BrokerDenial(reason: "the certificate is not that of the device in the client id")
        }
        guard certificate.notAfter > now else { throw BrokerDenial(reason: "the certificate has expired") }
        guard let token = state.accessTokens[login.password], token.expiresAt > now, !token.isDisabled else {
            throw BrokerDenial(reason: "the access token is unknown, expired or disabled")
        }
        guard token.magIdentifier == identity.device.magIdentifier else {
            throw BrokerDenial(reason: "the access token belongs to another device")
        }
        guard clientMaster(token.clientID) == identity.master else {
            throw BrokerDenial(reason: "the access token belongs to another client")
        }
        guard token.scopes.contains("mas_messaging") else {
            throw BrokerDenial(reason: "the access token lacks the scope mas_messaging")
        }
        switch (configuration.brokerClients, token.user) {
        case (.users, nil): throw BrokerDenial(reason: "this broker accepts users only, and no user is logged in")
        case (.boards, _?): throw BrokerDenial(reason: "this broker accepts boards only, not their users")
        default: break
        }
        // The protocol's clients are users (MAG 9.1). For a board without one this lab wants what its own agent says:
        // no user part, and the device identifier as user name. Some clients repeat it as the user part.
        let speaker = token.user ?? identity.device.deviceID
        guard identity.user == nil && token.user == nil || identity.user == speaker else {
            throw BrokerDenial(reason: "the user part of the client id does not match the token")
        }
        guard login.userName == speaker else {
            throw BrokerDenial(reason: "the user name does not match the token")
        }
    }

    /// The identity behind a client id: `mag-identifier::master client id[::user]`.
    func brokerIdentity(ofClientID clientID: String) throws(BrokerDenial) -> BrokerIdentity {
        let parts = clientID.components(separatedBy: "::")
        guard (2...3).contains(parts.count), let device = state.devices[parts[0]], device.status == .active else {
            throw BrokerDenial(reason: "the client id does not name an active device")
        }
        guard configuration.masterClients.contains(where: { $0.clientID == parts[1] }) else {
            throw BrokerDenial(reason: "the client id does not name a client of the gateway")
        }
        return BrokerIdentity(device: device, master: parts[1], user: parts.count == 3 ? parts[2] : nil)
    }

    private func clientMaster(_ clientID: String) -> String? {
        state.instances[clientID]?.master ?? configuration.masterClients.first { $0.clientID == clientID }?.clientID
    }

    /// Whether a client of the gateway may publish to the topic. The sources have no rules for the broker; the lab
    /// follows the protocol's advice: to any existing user or device and to the application (UNVERIFIED, MAG 9.5).
    func mayPublish(_ sender: BrokerIdentity, to topic: GatewayTopic) -> Bool {
        switch topic {
        case .device(let id): state.device(withID: id) != nil
        case .deviceStatus(let id): id == sender.device.deviceID
        case .user(let id): configuration.users.contains { $0.name == id }
        case .group(let id): configuration.messageGroups[id] != nil
        case .application: true
        }
    }

    /// Whether a client may subscribe: its own messages, those of its user's groups, and the application's.
    func maySubscribe(_ reader: BrokerIdentity, to topic: GatewayTopic) -> Bool {
        switch topic {
        case .device(let id), .deviceStatus(let id): id == reader.device.deviceID
        case .user(let id): id == reader.user
        case .group(let id): reader.user.map { configuration.messageGroups[id]?.contains($0) ?? false } ?? false
        case .application: true
        }
    }
}

struct BrokerIdentity: Sendable {
    var device: LabDevice
    /// Client id of the master client.
    var master: String
    var user: String?

    /// Where the broker reports errors to it (MAG 9.2), below the gateway's prefix.
    func errorTopic(prefix: String) -> String {
        let own = user.map { "users/\($0)" } ?? "devices/\(device.deviceID)"
        return (prefix.isEmpty ? "" : "/\(prefix)") + "/2.0/client/\(own)/custom/error"
    }
}

/// Why the broker refuses a client.
struct BrokerDenial: Error, Equatable {
    var reason: String
}
