import AgentCertificates
import AgentCore
import AgentGateway
import Groundwork
import LocalAPI
import Settings

/// The table `[proxy]`.
package struct ProxySettings: TypedValue {
    package var enabled = false
    package var socket = "/run/latchkey/proxy.sock"
    package var group = ""

    package init() {}
}

/// The forward proxy: calls of programs that never see a token.
package struct ProxyFeature: Feature {
    package let host: Host
    package let gateways: GatewayAccounts
    package let authorizer: CallAuthorizer
    package let certificates: CertificatesFeature

    package static var errors: [any Explained.Type] { [ProxyError.self] }

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        authorizer = host.feature(GrantsFeature.self).authorizer
        certificates = host.feature(CertificatesFeature.self)
    }

    package static func compare(with machine: inout MachineComparison) {
        guard machine.configuration[ProxySettings.self].enabled else { return }
        let (key, path) = ("proxy.socket", machine.configuration[ProxySettings.self].socket)
        guard path != machine.configuration.api.socket else {
            return machine.fail(key, "is also api.socket", fix: "name another")
        }
        let directory = MachineComparison.directory(of: path)
        // Where both sockets are in one directory, one fault is enough.
        guard
            directory != MachineComparison.directory(of: machine.configuration.api.socket)
                || path.utf8.count > MachineComparison.socketPathLimit
        else { return }
        machine.compareSocket(key, path)
    }

    package static func placeSockets(in directory: String, of configuration: inout AgentConfiguration) {
        if configuration[ProxySettings.self].socket == ProxySettings().socket {
            configuration[ProxySettings.self].socket = "\(directory)/proxy.sock"
        }
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("proxy") { table in
            table.flag("enabled", &configuration[ProxySettings.self].enabled)
            table.string("socket", &configuration[ProxySettings.self].socket, .absolutePath)
            table.string("group", &configuration[ProxySettings.self].group, .any)
        }
    }
}
