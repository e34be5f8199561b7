import AgentCore
import AgentGateway
import Gateway
import LocalAPI
import Settings

/// The table `[signing]`.
package struct SigningSettings: TypedValue {
    package var lifetimeSeconds = 300

    package init() {}
}

/// Signatures of calls' bodies, by the device's key or by keys of the owner's own (MAG 6.7).
package struct SigningFeature: Feature {
    package let keys: SigningKeys
    package let gateways: GatewayAccounts

    package init(_ host: Host) {
        keys = SigningKeys(host: host)
        gateways = host.feature(GatewayFeature.self).gateways
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("signing") { table in
            let range = BodySigning.lifetimes
            table.integer(
                "lifetime_seconds", &configuration[SigningSettings.self].lifetimeSeconds,
                in: Int(range.lowerBound)...Int(range.upperBound))
        }
    }

    package func addRoutes(to router: inout Router) {
        addKeyRoutes(to: &router)
        router.addOfAccounts { addSignRoutes(to: &$0) }
    }
}
