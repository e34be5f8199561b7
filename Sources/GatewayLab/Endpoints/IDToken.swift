import Cryptography
import Foundation
import Groundwork

/// The type of the id_tokens that the lab issues and accepts.
enum IDToken {
    static let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"
}

extension GatewayCore {
    /// A session and the id_token that stands for it (MAG 5.5, MAG checklist 51).
    ///
    /// `aud` is a string, `azp` the mag-identifier, `exp` an integer. A session without a user, as for client
    /// credentials, has the device identifier as `sub`.
    mutating func newSession(for device: LabDevice, user: String?, client: ClientInstance, now: Date) throws -> String {
        let session = LabSession(
            jti: try Random.uuid(), user: user, magIdentifier: device.magIdentifier, clientID: client.clientID,
            expiresAt: now + TimeInterval(configuration.lives.idToken))
        state.sessions[session.jti] = session
        let claims: JSON = [
            "iss": .string(baseURL + "/connect"), "sub": .string(user ?? device.deviceID),
            "aud": .string(client.clientID), "azp": .string(device.magIdentifier), "jti": .string(session.jti),
            "iat": .integer(now.epochSeconds), "exp": .integer(session.expiresAt.epochSeconds),
        ]
        switch configuration.idTokenAlgorithm {
        case .hs256:
            return try JWS.sign(
                claims.bytes, algorithm: .HS256, key: .hmac(SecretBytes(utf8: client.secret)), keyID: nil)
        case .rs256:
            let signer = try authority.signer.identity()
            return try JWS.sign(claims.bytes, algorithm: .RS256, key: .key(signer.key), keyID: signer.keyID)
        }
    }

    /// The valid session that an id_token stands for.
    ///
    /// Another client of the same device may present it (MAG 12.1), so `aud` names the client whose secret signed it,
    /// not the caller.
    /// - Parameter magIdentifier: the caller's device; `nil` if it has none yet.
    /// - Throws: `LabError.noSuch` or an error of the signature check; callers answer with their own code.
    func session(ofIDToken compact: String, magIdentifier: String?, now: Date) throws -> LabSession {
        let token = try JWS.Token(compact: compact)
        let claims = try JSON(parsing: token.payload)
        guard let session = claims["jti"]?.string.flatMap({ state.sessions[$0] }), session.expiresAt > now,
            claims["azp"]?.string == session.magIdentifier, claims["aud"]?.string == session.clientID,
            magIdentifier == nil || magIdentifier == session.magIdentifier
        else { throw LabError.noSuch(thing: "session", name: "for this id_token") }
        switch token.algorithm {
        case .HS256:
            guard let secret = secret(ofClient: session.clientID) else {
                throw LabError.noSuch(thing: "client", name: session.clientID)
            }
            try token.verify(with: .hmac(SecretBytes(utf8: secret)))
        default: try token.verify(with: .key(authority.signer.identity().key.publicKey))
        }
        return session
    }

    private func secret(ofClient id: String) -> String? {
        state.instances[id]?.secret ?? configuration.masterClients.first { $0.clientID == id }?.staticSecret
    }
}
