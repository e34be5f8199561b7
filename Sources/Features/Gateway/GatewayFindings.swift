import AgentCore
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient

/// What is found of the gateways.
package struct GatewayFindings: Sendable {
    /// An account other than the default one.
    package struct OtherAccount: Sendable {
        package var name: String
        package var registration: GatewayStatus.Registration
        package var certificateEnd: Date?
        package var lastError: GatewayError?
    }

    /// `nil` when no gateway is active.
    package var host: String?
    /// The gateway's answer to a request that needs no registration: an HTTP status, or why there was none.
    package var probe: Result<Int, HTTPError>?
    package var certificateEnd: Date?
    package var renewDays = 30
    package var otherAccounts: [OtherAccount] = []
    /// The first account whose stored records cannot be used, the default one included, and why.
    package var unusableAccount: (name: String, fault: Explanation)?
}

extension AgentState {
    package var gateway: GatewayFindings {
        get { self[GatewayFindings.self, default: GatewayFindings()] }
        set { self[GatewayFindings.self, default: GatewayFindings()] = newValue }
    }
    package var network: NetworkMonitor.State {
        get { self[NetworkMonitor.State.self, default: .unknown(nil)] }
        set { self[NetworkMonitor.State.self, default: .unknown(nil)] = newValue }
    }
}
