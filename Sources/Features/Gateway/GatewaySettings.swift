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
    /// A configuration document that is taken at the first start; empty: none.
    package var defaultDocument = ""
    package var documentReplaces = false
    /// Who registers a board: `board` itself, by the client's own credentials, or the first `user` who logs in.
    package var registeredBy = "board"
    package var verifiesIDTokens = true
    package var preloadKeys = "announced"
}

extension AgentConfiguration {
    package var gateway: GatewaySettings {
        get { self[GatewaySettings.self] }
        set { self[GatewaySettings.self] = newValue }
    }
}
