import AgentCore
import Cryptography
import Groundwork

/// How the board is registered.
package struct GatewaySettings: TypedValue {
    package init() {}

    /// The certificate is renewed this many days before it expires.
    package var renewDays = 30
    /// How the certificates of gateways and their brokers must name them.
    package var nameCheck = ServerTrust.NameCheck.strict
    /// The board's telephone number, which calls may say; empty: none.
    package var telephoneNumber = ""
}

extension AgentConfiguration {
    package var gateway: GatewaySettings {
        get { self[GatewaySettings.self] }
        set { self[GatewaySettings.self] = newValue }
    }
}
