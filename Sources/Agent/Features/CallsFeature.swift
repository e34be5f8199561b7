import AgentCore
import Gateway
import LocalAPI
import Settings

/// Calls of APIs in the name of the board or its user: at the gateways, and at hosts that the settings name or that
/// were added over the local API.
struct CallsFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let authorizer: CallAuthorizer
    let uploads = UploadDesk()

    init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        authorizer = host.feature(GrantsFeature.self).authorizer
        let calls = GatewayCalls(gateways: gateways, authorizer: authorizer, uploads: uploads)
        gateways.added.calls = calls
        gateways.added.tokens = calls
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (hosts, faults) = HostSecurity.read(from: &root)
        configuration.hosts = hosts
        root.adopt(faults)
    }

    func addRoutes(to router: inout Router) {
        router.addOfAccounts {
            addTokenRoutes(to: &$0)
            addCallRoutes(to: &$0)
        }
        addUploadRoute(to: &router)
        addHostRoutes(to: &router)
    }
}
