import Foundation
import GatewayLab
import TestSupport

/// Tokens, certificates, credentials, and the registration itself.
extension Trouble {
    static let credentials: [Trouble] = [
        Trouble(name: "the token was revoked meanwhile") { scene in
            try await scene.lab.revokeTokens()
            scene.broker.cut()
        } seen: { scene in
            try await scene.drained()
        } end: { _ in
        },
        Trouble(
            name: "the certificate is in its renewal window, and the gateway fails to renew it",
            lives: .with { $0.deviceCertificate = 20 * 86_400 }, identity: .renewed
        ) { scene in
            // The window begins 30 days before the end; it was renewed after the registration, and is not due again by
            // itself.
            scene.lab.inject(Fault(.status(503), at: .renewal, times: 1))
        } seen: { scene in
            guard try await scene.board.latchkey("renew").status != 0 else {
                throw Unexpected("503 was taken for a renewal")
            }
            try await scene.says("gateway.unexpected-answer")
            guard try await scene.doctor("device-certificate-dates").verdict == "warn" else {
                throw Unexpected("the doctor does not warn of the certificate")
            }
            // The old one serves on.
            try await scene.connectsAnew()
        } end: { scene in
            try await scene.board.ask("renew")
        },
        Trouble(
            name: "the certificate ended while nobody could be reached",
            lives: .with { $0.deviceCertificate = 12 }, identity: .renewed
        ) { scene in
            try scene.gateway.become(.refusing)
            try scene.broker.become(.refusing)
        } seen: { scene in
            try await scene.status { ($0.certificate?.daysLeft ?? 0) < 0 }
            try await scene.doctorFails("device-certificate-dates")
        } end: { scene in
            try scene.gateway.become(.open)
            try scene.broker.become(.open)
        },
        Trouble(name: "the device was removed at the gateway", identity: .another) { scene in
            guard let device = await scene.lab.devices().first else { throw Unexpected("there is no device") }
            try await scene.lab.removeDevice(magIdentifier: device.magIdentifier)
            scene.broker.cut()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.credentials-unavailable")
            let remedy = try await scene.says("gateway.device-unknown")
            guard remedy.contains("latchkey reset"), remedy.contains("latchkey enroll") else {
                throw Unexpected(remedy)
            }
            // Only a person drops it.
            _ = try await scene.identity()
        } end: { scene in
            try await scene.board.ask("reset", "--yes")
            _ = try await scene.board.enroll(at: scene.lab)
        },
        Trouble(name: "the client credentials have ended", lives: .with { $0.clientCredentials = 8 }) { scene in
            try await scene.lab.revokeTokens()
            // They end by the clock alone, and nothing shows it before they are used.
            try await Task.sleep(for: .seconds(8))
            scene.broker.cut()
        } seen: { scene in
            try await scene.drainedWithNewCredentials()
        } end: { _ in
        },
        Trouble(name: "the gateway has forgotten the client credentials") { scene in
            try await scene.lab.forgetClientCredentials()
            try await scene.lab.revokeTokens()
            scene.broker.cut()
        } seen: { scene in
            try await scene.drainedWithNewCredentials()
        } end: { _ in
        },
    ]
}

extension Lives {
    static func with(_ change: (inout Lives) -> Void) -> Lives {
        var lives = Lives()
        change(&lives)
        return lives
    }
}

extension Scene {
    /// Waits until all readings are at the broker, and expects that the board has asked for client credentials again.
    fileprivate func drainedWithNewCredentials() async throws {
        try await drained()
        // The first came with the registration.
        guard lab.requestCounts[.clientInitialization, default: 0] >= 2 else { throw Unexpected("no new credentials") }
    }
}
