import Cryptography
import FoundationEssentials
import HTTPClient

/// When a certificate is renewed, and what an answer to the attempt means (MAG 4.6). Pure.
enum RenewalPolicy {
    /// The default, 30 days.
    static let window: TimeInterval = 30 * 86_400

    /// Whether to renew before the next call (MAG checklist 18).
    ///
    /// A gateway may issue certificates that are in the window from their first day. A renewed one is then renewed
    /// again only after half of its remaining lifetime, to avoid an endless loop (MAG quirk Q20).
    ///
    /// - Parameter window: how long before its expiry a certificate is renewed, in seconds.
    static func isDue(_ device: Device, at now: Date, window: TimeInterval = Self.window) -> Bool {
        let left = device.leaf.notAfter.timeIntervalSince(now)
        guard left < window else { return false }
        guard let renewedAt = device.renewedAt else { return true }
        let leftAtFirst = device.leaf.notAfter.timeIntervalSince(renewedAt)
        // A renewal in the future means that the clock was set back.
        return leftAtFirst >= window || now.timeIntervalSince(renewedAt) >= leftAtFirst / 2 || now < renewedAt
    }

    enum Verdict: Equatable {
        case renewed
        /// The gateway explicitly refused to renew this registration, which has ended (MAG checklist 19).
        case refused(Refusal)
        /// An error of the gateway, or an answer of something in between: it says nothing about the registration, which
        /// is kept.
        ///
        /// The public clients drop the registration on any status but 200. This agent does so only on the gateway's own
        /// `x-ca-err`, and not on a server error (5xx, …000) or a request to wait (408, 429): a board must not lose its
        /// identity because a proxy answers 502 while the gateway restarts, or because of a hotel's login page.
        case inconclusive
    }

    static func judge(_ response: HTTPResponse) -> Verdict {
        if response.status == 200 { return .renewed }
        guard let refusal = Refusal(response, to: .renewCertificate), refusal.suffix != 0,
            response.status < 500, ![408, 429].contains(response.status)
        else { return .inconclusive }
        return .refused(refusal)
    }
}
