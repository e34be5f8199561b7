import Cryptography
import FoundationEssentials
import OAuth

/// A point in time on both clocks of a session, read together.
struct Moment: Sendable, Equatable {
    /// The best known time.
    let date: Date
    /// Time since any fixed moment, by a monotonic clock.
    let uptime: Duration
}

/// The purpose of a preparation.
struct Need: Sendable, Hashable {
    /// The principal that calls the gateway.
    var principal = Principal.board
    /// Scopes needed beyond the configured ones, separated by spaces.
    var scope: String?
    /// Whether a person logs in: then existing tokens do not count, and a board that waits for a person stops waiting.
    var isLogin = false

    static let logIn = Need(principal: .user, isLogin: true)
}

/// The steps that prepare a protected call, in their order (MAG 0.2).
enum ChainStep: Sendable, CaseIterable {
    case clientCredentials, registration, certificate, accessToken
}

/// The next step for a need.
enum NextStep: Sendable, Equatable {
    /// Nothing is missing.
    case ready
    /// Something is missing, but the board waits for a person before it requests anything, including client
    /// credentials.
    case rest(RegistrationRest)
    case take(ChainStep)

    /// The step to take; `nil` when nothing is missing.
    ///
    /// - Throws: the reason why the board waits for a person.
    func due() throws(GatewayError) -> ChainStep? {
        switch self {
        case .ready: nil
        case .rest(let rest): throw rest.error
        case .take(let step): step
        }
    }
}

/// When the agent itself renews the certificate.
struct RenewalTerms: Sendable, Equatable {
    /// How long before its expiry a certificate is renewed, in seconds.
    var window = RenewalPolicy.window
    /// After a failed renewal.
    var pause: RenewalPause?
}

/// For how long the agent itself does not try a renewal again that failed.
///
/// The same attempt would fail in the same way, whether it is made in time or with an ended certificate, at every use.
/// It is another attempt once the certificate ends, or the clock is set right.
struct RenewalPause: Sendable, Equatable {
    /// As uptime, by the monotonic clock.
    let end: Duration
    /// Whether the certificate had ended, by the clock then.
    let hadEnded: Bool

    func holds(for device: Device, at now: Moment) -> Bool {
        now.uptime < end && hadEnded == device.hasEnded(at: now.date)
    }
}

/// Finds the next step. Pure.
extension Holdings {
    /// - Parameter last: the step just taken. No step is repeated, even if it had no effect, such as a postponed
    ///   renewal.
    func nextStep(for need: Need, after last: ChainStep? = nil, at now: Moment, renewal: RenewalTerms) -> NextStep {
        let steps = ChainStep.allCases
        let start = last.flatMap(steps.firstIndex).map { $0 + 1 } ?? 0
        guard let step = steps[start...].first(where: { !has($0, for: need, at: now, renewal) }) else { return .ready }
        if let rest, !need.isLogin { return .rest(rest) }
        return .take(step)
    }

    private func has(_ step: ChainStep, for need: Need, at now: Moment, _ renewal: RenewalTerms) -> Bool {
        switch step {
        case .clientCredentials: client.map { !$0.authentication.isExpired(at: now.date) } ?? false
        case .registration: device != nil
        case .certificate: !isRenewalDue(at: now, renewal)
        case .accessToken: !need.isLogin && hasToken(for: need, at: now)
        }
    }

    private func hasToken(for need: Need, at now: Moment) -> Bool {
        guard let token = self[need.principal].access else { return false }
        return token.isValid(at: now.uptime) && GatewayScope.suffices(token.scope, for: need.scope)
    }

    private func isRenewalDue(at now: Moment, _ terms: RenewalTerms) -> Bool {
        guard let device else { return false }
        if let pause = terms.pause, pause.holds(for: device, at: now) { return false }
        return !device.renewedChain.isEmpty || RenewalPolicy.isDue(device, at: now.date, window: terms.window)
    }
}
