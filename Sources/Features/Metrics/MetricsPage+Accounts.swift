import AgentCore
import FoundationEssentials
import Gateway

extension MetricsPage {
    /// An account at a gateway.
    struct GatewayAccount {
        let name: String
        let isStopped: Bool
        let status: GatewayStatus
    }

    mutating func add(_ accounts: [GatewayAccount], at now: Date) {
        func samples(_ value: (GatewayAccount) -> Double?) -> [Sample] {
            accounts.compactMap { account in value(account).map { Sample($0, account.labels) } }
        }
        func flag(_ condition: Bool) -> Double { condition ? 1 : 0 }
        typealias Registration = GatewayStatus.Registration
        states(
            "latchkey_registration", of: [Registration.unregistered, .pending, .registered].map(\.rawValue),
            "Whether the board is registered at the gateway",
            accounts.map { ($0.labels, $0.status.registration.rawValue) })
        gauge("latchkey_account_stopped", "1 if the account was stopped", samples { flag($0.isStopped) })
        gauge(
            "latchkey_gateway_failing", "1 if the newest request of the gateway failed",
            samples { flag($0.status.lastFailure != nil) })
        gauge(
            "latchkey_gateway_last_contact_timestamp_seconds", unit: "seconds",
            "When the gateway last answered, since 1970",
            samples { $0.status.lastContact?.timeIntervalSince1970 })
        gauge(
            "latchkey_certificate_remaining_seconds", unit: "seconds",
            "Until the device's certificate ends; negative afterwards",
            samples { $0.status.certificate?.notAfter.timeIntervalSince(now) })
        gauge(
            "latchkey_token_remaining_seconds", unit: "seconds", "Until the board's access token ends",
            samples { $0.status.token?.expiresAt.timeIntervalSince(now) })
        gauge("latchkey_user_logged_in", "1 if a user is logged in", samples { flag($0.status.user != nil) })
    }
}

extension MetricsPage.GatewayAccount {
    fileprivate var labels: MetricsPage.Labels { [("account", name)] }
}
