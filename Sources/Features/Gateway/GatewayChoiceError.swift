import AgentCore
import Groundwork

/// Why no other gateway can be chosen.
package enum GatewayChoiceError: Explained, Equatable {
    /// The board was never enrolled at a gateway of this name.
    case unknown(String)
    /// Several gateways have this name.
    case ambiguous(String, [String])
    /// The settings name no default document.
    case noDefaultDocument

    package var explanation: Explanation {
        switch self {
        case .unknown(let name):
            Explanation(
                "gateway.unknown", .notFound,
                "this board does not know the gateway \(DisplayText.clean(name).prefix(200))",
                remedy: "list the known gateways: latchkey gateway list; to add one: latchkey enroll - < url.txt",
                gateway: .local(100_206))
        case .ambiguous(let name, let urls):
            Explanation(
                "gateway.ambiguous", .invalidInput,
                "\(DisplayText.clean(name).prefix(200)) is the name of several gateways",
                remedy: "choose one of \(urls.joined(separator: ", "))", gateway: .local(100_206))
        case .noDefaultDocument:
            Explanation(
                "gateway.no-default-document", .unconfigured, "the settings name no default document",
                remedy: "set gateway.default_document in latchkey.toml, and restart the agent",
                gateway: .local(100_201))
        }
    }

    package static let examples: [GatewayChoiceError] = [
        .unknown("NAME"), .ambiguous("NAME", ["URL", "URL"]), .noDefaultDocument,
    ]
}
