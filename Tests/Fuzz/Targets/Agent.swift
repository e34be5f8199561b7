import Groundwork

@testable import Agent

extension FuzzTarget {
    static let agent = [
        FuzzTarget(name: "agent-configuration") { bytes throws(Violation) in
            let configuration: AgentConfiguration
            do throws(ConfigurationError) {
                configuration = try AgentConfiguration(toml: text(bytes), path: "fuzzed.toml")
            } catch {
                try require(!error.message.isEmpty, "a refusal says why")
                return .refused
            }
            try require(configuration.stateDirectory.hasPrefix("/"), "state has a place")
            try require((5...65_535).contains(configuration.broker.keepAliveSeconds), "numbers are within their bounds")
            return .accepted
        },
        FuzzTarget(name: "request-body") { bytes throws(Violation) in
            let known: Set = ["topic", "payload", "encoding", "qos", "retain", "raw"]
            guard let body = try? RequestBody(bytes, knowing: known) else { return .refused }
            guard (try? body.payload("payload")) != nil, let qos = try? body.integer("qos", in: 0...2, default: 1)
            else {
                return .refused
            }
            try require((0...2).contains(qos), "numbers are within their bounds")
            return .accepted
        },
    ]
}
