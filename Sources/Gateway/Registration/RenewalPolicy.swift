import Cryptography
import FoundationEssentials
import HTTPClient

/// When a certificate is renewed, and what an answer to the attempt means (MAG 4.6). Pure.
enum RenewalPolicy {
    /// 30 days, where nothing else is set.
    static let window: TimeInterval = 30 * 86_400

    /// Whether to renew before the next call (MAG checklist 18).
    ///
    /// A gateway may issue certificates that are in the window from their first day. One that a renewal gave is then renewed
    /// only when half of what it had left is over, so that this ends (MAG quirk Q20).
    ///
    /// - Parameter window: how long before its end a certificate is renewed, in seconds.
    static func isDue(_ device: Device, at now: Date, window: TimeInterval = Self.window) -> Bool {
        let left = device.leaf.notAfter.timeIntervalSince(now)
        guard left < window else { return false }
        guard let renewedAt = device.renewedAt else { return true }
        let leftAtFirst = device.leaf.notAfter.timeIntervalSince(renewedAt)
        // A renewal in the future is a clock that was put back.
        return leftAtFirst >= window || now.timeIntervalSince(renewedAt) >= leftAtFirst / 2 || now < renewedAt
    }

    enum Verdict: Equatable {
        case renewed
        /// The gateway's explicit refusal: it does not renew this registration, which is over (MAG checklist 19).
        case refused(Refusal)
        /// A fault of the gateway, or an answer of something in between: no word on the registration, which is kept.
        ///
        /// The public clients drop the registration on any status but 200. This agent does so only on the gateway's own word,
        /// its `x-ca-err`, and not on a failure of the server (5xx, …000) or a demand to wait (408, 429): a proxy that answers
        /// 502 while the gateway restarts, or a hotel's log-in page, must not cost a board its identity.
        case noWord
    }

    static func judge(_ response: HTTPResponse) -> Verdict {
        if response.status == 200 { return .renewed }
        guard let refusal = Refusal(response, to: .renewCertificate), refusal.suffix != 0,
            response.status < 500, ![408, 429].contains(response.status)
        else { return .noWord }
        return .refused(refusal)
    }
}
