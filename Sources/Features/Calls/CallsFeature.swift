import AgentCertificates
import AgentCore
import AgentGateway
import Gateway
import LocalAPI
import Settings

/// Calls of APIs in the name of the board or its user: at the gateways, and at hosts that the settings name or that
/// were added over the local API.
package struct CallsFeature: Feature {
    package let host: Host
    package let gateways: GatewayAccounts
    package let authorizer: CallAuthorizer
    package let uploads = UploadDesk()

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        authorizer = host.feature(GrantsFeature.self).authorizer
        let calls = GatewayCalls(
            gateways: gateways, authorizer: authorizer, certificates: host.feature(CertificatesFeature.self),
            uploads: uploads)
        gateways.added.calls = calls
        gateways.added.tokens = calls
    }

    package static func hosts(in configuration: AgentConfiguration) -> [String] { configuration.hosts.map(\.host) }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (hosts, faults) = HostSecurity.read(from: &root)
        configuration.hosts = hosts
        root.adopt(faults)
    }

    package func addRoutes(to router: inout Router) {
        router.addOfAccounts {
            addTokenRoutes(to: &$0)
            addCallRoutes(to: &$0)
        }
        addUploadRoute(to: &router)
        addHostRoutes(to: &router)
    }
}
