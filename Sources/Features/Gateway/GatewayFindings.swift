import AgentCore
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Vault

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
    /// `nil` before the registration.
    package var key: KeyFinding?
    package var otherAccounts: [OtherAccount] = []
    /// The first account whose stored records cannot be used, the default one included, and why.
    package var unusableAccount: (name: String, fault: Explanation)?
}

/// What is found of the key of the device's certificate.
package struct KeyFinding: Sendable {
    package var keeper: KeyReference.Keeper
    /// Where the settings want the next one.
    package var wanted: KeyReference.Keeper
    /// Why it did not sign. One in the vault is not tried.
    package var fault: Explanation?

    package init(_ keeper: KeyReference.Keeper, wanted: KeyReference.Keeper, fault: Explanation? = nil) {
        (self.keeper, self.wanted, self.fault) = (keeper, wanted, fault)
    }
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
