import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import Messaging
import OAuth

/// The broker of a gateway, where a registered device logs in with its access token (MAG 9.1).
package struct GatewayBrokerAccess: BrokerAccess {
    package let link: Link
    private let settings: BrokerSettings

    package init(_ link: Link) {
        self.link = link
        settings = link.host.settings.broker
    }

    private var session: GatewaySession { link.session }

    package var scope: String { link.gateway.identity.scope }
    package var reportsErrors: Bool { settings.reportsErrors }
    package var isStopped: Bool { session.isStopped }

    package var way: BrokerWaySettings { settings.way }

    package var addresses: [BrokerAddress] {
        let first = BrokerAddress(
            host: settings.host.isEmpty ? link.gateway.identity.host : settings.host,
            port: settings.port == 0
                ? link.gateway.announcedBrokerPort ?? BrokerAddress.standardPort : settings.port)
        return way.all(first: first, standardPort: BrokerAddress.standardPort)
    }

    package func topics(of device: String) throws -> TopicNamespace {
        try TopicNamespace(prefix: link.gateway.identity.prefix, version: settings.topicVersion, deviceID: device)
    }

    /// The board's own, as the settings say: the protocol has none for a board without a user.
    package func credentials(of device: String, at broker: BrokerAddress) async throws -> BrokerCredentials {
        let token = try await session.accessToken()
        let (magIdentifier, tls) = try await identity(at: broker)
        let names = ["mag-identifier": magIdentifier, "client": link.gateway.masterClientID, "device": device]
        let userName = LoginTemplate.fill(settings.userName, with: names)
        let secrets = names.merging(["token": token.value.exposedText()]) { own, _ in own }
        let password = LoginTemplate.fill(settings.password, with: secrets)
        return BrokerCredentials(
            clientID: LoginTemplate.fill(settings.clientID, with: names), userName: userName.isEmpty ? nil : userName,
            password: password.isEmpty ? nil : SecretBytes(utf8: password), tls: tls)
    }

    /// A user's, with a connection of that user's.
    package func credentials(
        of user: UserStatus, named name: String, at broker: BrokerAddress
    ) async throws -> BrokerCredentials {
        let token = try await session.accessToken(ofUserLoggedInAt: user.loggedInAt)
        let (magIdentifier, tls) = try await identity(at: broker)
        return BrokerCredentials(
            clientID: "\(magIdentifier)::\(link.gateway.masterClientID)::\(name)", userName: name,
            password: token.value, tls: tls)
    }

    /// Whosever connection it is; obtained after the token.
    private func identity(at broker: BrokerAddress) async throws -> (magIdentifier: String, tls: TLSContext) {
        guard let magIdentifier = try await session.status().magIdentifier, let identity = try await session.identity()
        else { throw GatewayError.notRegistered }
        // The broker has the gateway's certificate authority (MAG 9.1), even if the settings name another host for it.
        var trust = try session.trust(for: session.configuration.identity.host)
        trust.host = broker.host
        let alpn = settings.alpn.isEmpty ? nil : settings.alpn
        return (magIdentifier, try TLSContext(trust: trust, identity: identity, applicationProtocol: alpn))
    }

    package func credentialsWereRefused() async throws { try await session.dropAccessToken() }

    package func didConnect() async {
        // A record that cannot be read is reported by the code that needs it.
        try? await link.confirmTime(by: .new)
    }
}
