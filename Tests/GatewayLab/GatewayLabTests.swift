import Testing

/// Every test starts a lab with keys of its own and programs besides, so they take turns: side by side they would only
/// wait for each other's key pairs.
@Suite("Gateway lab", .serialized, .timeLimit(.minutes(5)))
enum GatewayLabTests {}
