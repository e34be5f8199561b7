import Cryptography
import Foundation
import Groundwork

/// E2: dynamic credentials for a client (MAG 3).
extension GatewayCore {
    /// Each call returns a new pair; the earlier ones stay valid until they expire, so that a lost answer does no harm.
    mutating func initializeClient(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.clientInitialization
        let deviceID = try decodedHeader("device-id", of: request, at: endpoint)
        let form = try form(of: request, at: endpoint)
        guard let masterID = form["client_id"], form["nonce"] != nil else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "client_id and nonce are mandatory")
        }
        guard configuration.masterClients.contains(where: { $0.clientID == masterID }) else {
            throw GatewayFault(endpoint.errorPrefix + 109, "invalid_request", "The given client_id is not a master key")
        }
        if request.header("client-authorization") != nil {
            _ = try client(inHeader: "client-authorization", of: request, at: endpoint, now: now)
        }
        if request.header("mag-identifier") != nil {
            _ = try device(of: request, at: endpoint, missing: 107, now: now)
        }
        state.sweep(now)
        let life = configuration.lives.clientCredentials
        let instance = ClientInstance(
            clientID: try Random.uuid(), secret: try Self.newSecret(), master: masterID, deviceID: deviceID,
            expiresAt: life == 0 ? nil : now + TimeInterval(life))
        state.instances[instance.clientID] = instance
        return .json([
            "client_id": .string(instance.clientID), "client_secret": .string(instance.secret),
            "client_expiration": .integer(instance.expiresAt.map(\.epochSeconds) ?? 0),
        ])
    }

    /// 256 random bits as text.
    static func newSecret() throws -> String { Base64.encode(try Random.bytes(32), alphabet: .urlSafe) }
}

extension Date {
    /// Whole seconds since 1970.
    var epochSeconds: Int64 { Int64(timeIntervalSince1970) }
}
