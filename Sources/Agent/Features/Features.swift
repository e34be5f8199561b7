/// The list of features, in the order in which a person would fix what fails.
enum Features {
    static let all: [any Feature] = [
        AgentFeature(),
        EventsFeature(),
        VaultFeature(),
        GatewayFeature(),
        CallsFeature(),
        AccountsFeature(),
        UsersFeature(),
        ServicesFeature(),
        PromptsFeature(),
        MessagesFeature(),
        InboxFeature(),
        ActionsFeature(),
        BoardFeature(),
        NearbyFeature(),
        ConsoleFeature(),
        LogsFeature(),
    ]
}
