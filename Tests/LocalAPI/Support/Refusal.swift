import Groundwork

/// An error of a room that the server knows nothing of.
enum Refusal: Explained, Equatable {
    case teapot
    case flooded

    var explanation: Explanation {
        switch self {
        case .teapot:
            Explanation(
                "kitchen.teapot", .unavailable, "it is a teapot", remedy: "ask the coffee machine",
                cause: "kitchen.no-beans",
                gateway: GatewayNumbers(.endpoint, 1_000_105, caError: 1_000_105, httpStatus: 418))
        case .flooded: Explanation("cellar.flooded", .internal, "the cellar is flooded")
        }
    }

    static let examples: [Refusal] = [.teapot, .flooded]
}
