import AgentBoard
import AgentBrokers
import AgentCalls
import AgentCertificates
import AgentConsole
import AgentCore
import AgentCrypto
import AgentDirectory
import AgentFirstBoot
import AgentGateway
import AgentHomeAssistant
import AgentListener
import AgentMessages
import AgentMetrics
import AgentNearby
import AgentNetwork
import AgentPasscode
import AgentUsers

#if OAuthServers
import AgentOAuthServers
#endif
#if MPin
import AgentMPin
#endif

/// The list of features, in the order in which a person would fix what fails.
package enum Features {
    package static let all: [any Feature.Type] = gateway + systems + board

    private static let gateway: [any Feature.Type] = [
        AgentFeature.self,
        EventsFeature.self,
        VaultFeature.self,
        RollbackFeature.self,
        HardwareFeature.self,
        PasscodeFeature.self,
        // Before the gateways: an account that is switched when it resumes ends the grants that are stored.
        GrantsFeature.self,
        // Before the gateways too: a gateway's broker gets the board's messages only if no account here does.
        BrokersFeature.self,
        GatewayFeature.self,
        FirstBootFeature.self,
        NetworkFeature.self,
        CertificatesFeature.self,
        CallsFeature.self,
        OneTimePasswordFeature.self,
        SigningFeature.self,
        CryptoFeature.self,
        LocationFeature.self,
        ProxyFeature.self,
        AccountsFeature.self,
        UsersFeature.self,
        LockFeature.self,
        ServicesFeature.self,
    ]

    /// Systems beside the mobile gateway: traits of the package; a build may leave some out.
    private static var systems: [any Feature.Type] {
        var systems: [any Feature.Type] = []
        #if OAuthServers
        systems.append(OAuthFeature.self)
        #endif
        #if MPin
        systems.append(MPinFeature.self)
        #endif
        return systems
    }

    private static let board: [any Feature.Type] = [
        PromptsFeature.self,
        MessagesFeature.self,
        InboxFeature.self,
        ActionsFeature.self,
        BoardFeature.self,
        HomeAssistantFeature.self,
        NearbyFeature.self,
        ConsoleFeature.self,
        LogsFeature.self,
        MetricsFeature.self,
        ListenerFeature.self,
    ]
}
