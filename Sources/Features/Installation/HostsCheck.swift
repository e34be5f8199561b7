import AgentCore
import AgentGateway

/// Fails when a host that the settings name has no address.
package struct HostsCheck: InstallationCheck {
    package static let name = NameResolutionCheck.name

    package func run(_ installation: Installation) -> Verdict? {
        guard installation.settings != nil else { return nil }
        guard let last = installation.hosts.last else {
            return .skip("the settings name no host; the gateway's is in the sealed store")
        }
        guard last.hasAddress else {
            return .fail(
                "\(last.name) has no address",
                remedy: "check /etc/resolv.conf and the name server of this network: getent ahosts \(last.name)")
        }
        let names = installation.hosts.map(\.name).joined(separator: ", ")
        return .pass("found: \(names); the gateway's host is in the sealed store")
    }
}
