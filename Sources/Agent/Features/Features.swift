/// The list of features, in the order in which a person would fix what fails.
enum Features {
    static let all: [any Feature] = [
        AgentFeature(),
        EventsFeature(),
        VaultFeature(),
        GatewayFeature(),
        NetworkFeature(),
        CallsFeature(),
        OneTimePasswordFeature(),
        SigningFeature(),
        LocationFeature(),
        GrantsFeature(),
        ProxyFeature(),
        AccountsFeature(),
        UsersFeature(),
        LockFeature(),
        ServicesFeature(),
        PromptsFeature(),
        MessagesFeature(),
        BrokersFeature(),
        InboxFeature(),
        ActionsFeature(),
        BoardFeature(),
        NearbyFeature(),
        ConsoleFeature(),
        LogsFeature(),
    ]
}
