import Cryptography
import Foundation
import OAuth
import Vault

@testable import Gateway

/// What a session holds where no part is missing.
enum SampleHoldings {
    static let key = try! PrivateKey(generating: .p256)  // Cannot fail where the tests can run at all.
    static let identifierKey = KeyReference(.software, name: "identifier-0")!  // Allowed names.
    static let pendingKey = KeyReference(.software, name: "device-1")!
    static let deviceKey = KeyReference(.software, name: "device-0")!
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// - Parameter days: until the certificate ends.
    static func full(certificateEndsIn days: Double = 1) throws -> Holdings {
        let certificate = try Documents.certificate(
            for: key.publicKey, from: now - 60, until: now + days * 86_400)
        return Holdings(
            identifierKey: identifierKey, pendingKey: pendingKey,
            device: Device(
                key: deviceKey, chain: [certificate], magIdentifier: "mag-1", isActive: false, registeredAt: now,
                renewedAt: now, renewedChain: [certificate]),
            rest: .withdrawn(code: 1_000_107),
            client: ClientCredentials(
                masterID: "5c0e",
                authentication: ClientAuthentication(id: "c900", secret: SecretBytes(utf8: "s"), expires: now + 60),
                isStatic: false),
            board: HeldTokens(
                access: HeldToken(value: SecretBytes(utf8: "at"), lifetime: 60, scope: "a b", at: now, uptime: .zero),
                refresh: SecretBytes(utf8: "rt"),
                id: HeldIDToken(value: SecretBytes(utf8: "it"), type: HeldIDToken.jwtBearer, expires: now + 60)),
            user: HeldUser(
                name: "alice", loggedInAt: now,
                tokens: HeldTokens(
                    access: HeldToken(
                        value: SecretBytes(utf8: "uat"), lifetime: 60, scope: "c", at: now, uptime: .zero),
                    refresh: SecretBytes(utf8: "urt"),
                    id: HeldIDToken(value: SecretBytes(utf8: "uit"), type: "other", expires: nil))),
            keys: [identifierKey: key, pendingKey: key, deviceKey: key])
    }

    /// Registered and at work: nothing is missing for a call, nobody waits for anything.
    static func working() throws -> Holdings {
        var holdings = try full(certificateEndsIn: 300)
        holdings.pendingKey = nil
        holdings.rest = nil
        holdings.device?.isActive = true
        holdings.device?.renewedAt = nil
        holdings.device?.renewedChain = []
        return holdings
    }
}
