/// The list of features, in the order in which a person would fix what fails.
enum Features {
    static let all: [any Feature] = [
        AgentFeature(),
        EventsFeature(),
        VaultFeature(),
        GatewayFeature(),
        CallsFeature(),
        SigningFeature(),
        LocationFeature(),
        AccountsFeature(),
        UsersFeature(),
        ServicesFeature(),
        PromptsFeature(),
        MessagesFeature(),
        BoardFeature(),
        NearbyFeature(),
        ConsoleFeature(),
        LogsFeature(),
    ]
}
