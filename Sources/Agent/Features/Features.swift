import AgentBoard
import AgentCalls
import AgentConsole
import AgentCore
import AgentDirectory
import AgentFirstBoot
import AgentGateway
import AgentListener
import AgentMPin
import AgentMessages
import AgentMetrics
import AgentNearby
import AgentNetwork
import AgentOAuthServers
import AgentUsers

/// The list of features, in the order in which a person would fix what fails.
package enum Features {
    package static let all: [any Feature.Type] = [
        AgentFeature.self,
        EventsFeature.self,
        VaultFeature.self,
        HardwareFeature.self,
        // Before the gateways: an account that is switched when it resumes ends the grants that are stored.
        GrantsFeature.self,
        GatewayFeature.self,
        FirstBootFeature.self,
        NetworkFeature.self,
        CallsFeature.self,
        OneTimePasswordFeature.self,
        SigningFeature.self,
        LocationFeature.self,
        ProxyFeature.self,
        AccountsFeature.self,
        OAuthFeature.self,
        UsersFeature.self,
        LockFeature.self,
        MPinFeature.self,
        ServicesFeature.self,
        PromptsFeature.self,
        MessagesFeature.self,
        BrokersFeature.self,
        InboxFeature.self,
        ActionsFeature.self,
        BoardFeature.self,
        NearbyFeature.self,
        ConsoleFeature.self,
        LogsFeature.self,
        MetricsFeature.self,
        ListenerFeature.self,
    ]
}
