@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork

/// A second client of the lab, for use by hand: the arguments for `mosquitto_pub`.
public struct LabClient: Sendable {
    /// MQTT client id.
    public var clientID: String
    public var userName: String
    /// The MQTT password; also good for the protected API.
    public var accessToken: String
    public var deviceID: String
    public var magIdentifier: String
    public var certificatePEM: String
    /// PKCS#8
    public var privateKeyPEM: String
}

extension Lab {
    /// Registers a client without the protocol: the lab makes its key itself.
    ///
    /// - Parameters:
    ///   - name: the device's name; its identifier is derived from it, so that calling again replaces it.
    ///   - user: the user logged in on it; `nil` for a device that acts for itself.
    /// - Throws: ``LabError``
    public func makeClient(named name: String, user: String? = nil) async throws -> LabClient {
        if let user, !configuration.users.contains(where: { $0.name == user }) {
            throw LabError.noSuch(thing: "user", name: user)
        }
        guard let master = configuration.masterClients.first else {
            throw LabError.noSuch(thing: "master client", name: "at all")
        }
        let key = try authority.rsaKeys.take()
        let deviceID = Hex.encode(SHA256.hash("lab client \(name)".utf8))
        let now = clock.now
        let lives = configuration.lives
        let certificate = try authority.certify(
            key.publicKey,
            subject: DistinguishedName([
                (.commonName, user ?? "clientName"), (.organizationalUnit, deviceID), (.domainComponent, "lab"),
                (.organization, master.organization),
            ]),
            from: now, seconds: lives.deviceCertificate)
        let device = LabDevice(
            magIdentifier: try Random.uuid(), deviceID: deviceID, name: name, user: user, clientID: try Random.uuid(),
            status: .active, publicKey: key.publicKey.spki, certificateSerial: certificate.serialNumber,
            certificateEnds: certificate.notAfter, registeredAt: now)
        let token = LabAccessToken(
            value: try GatewayCore.newSecret(), family: try Random.uuid(), clientID: device.clientID,
            magIdentifier: device.magIdentifier, user: user,
            scopes: master.scope.split(separator: " ").map(String.init),
            issuedAt: now, expiresAt: now + TimeInterval(lives.accessToken))
        let instance = ClientInstance(
            clientID: device.clientID, secret: try GatewayCore.newSecret(), master: master.clientID, deviceID: deviceID,
            expiresAt: nil)
        try await store.change { core in
            if let earlier = core.state.device(withID: deviceID) { core.removeDevice(earlier.magIdentifier) }
            core.state.instances[instance.clientID] = instance
            core.state.devices[device.magIdentifier] = device
            core.state.accessTokens[token.value] = token
        }
        journal.record(.device, "client \(name) made by an administrator", magIdentifier: device.magIdentifier, at: now)
        let parts = [device.magIdentifier, master.clientID] + (user.map { [$0] } ?? [])
        return LabClient(
            clientID: parts.joined(separator: "::"), userName: user ?? deviceID, accessToken: token.value,
            deviceID: deviceID, magIdentifier: device.magIdentifier, certificatePEM: certificate.pem,
            privateKeyPEM: PEM.privateKey(try key.pkcs8().exposed()))
    }
}
