import AgentBrokers
import AgentCore
import AgentCrypto
import AgentGateway
import AgentMessages
import AgentPasscode
import LocalAPI
import Vault

/// Figures of the agent that other tools can read.
package final class MetricsFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let broker: BoardBroker
    let brokers: BrokersFeature
    let passcode: Compartment
    let crypto: CryptoFeature

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        broker = host.feature(MessagesFeature.self).broker
        brokers = host.feature(BrokersFeature.self)
        passcode = host.feature(PasscodeFeature.self).desk.compartment
        crypto = host.feature(CryptoFeature.self)
    }

    /// The figures say that the vault is locked, while it is.
    package static var needsVault: Bool { false }

    package func addRoutes(to router: inout Router) { addMetricsRoute(to: &router) }
}
