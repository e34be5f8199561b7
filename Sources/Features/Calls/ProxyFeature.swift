import AgentCore
import AgentGateway
import Groundwork
import LocalAPI
import Settings

/// The forward proxy: calls of programs that never see a token.
package struct ProxyFeature: Feature {
    package static let enabled = Setting("proxy.enabled", preset: false)
    package static let socket = Setting("proxy.socket", preset: "/run/latchkey/proxy.sock")
    package static let group = Setting("proxy.group", preset: "")

    package let host: Host
    package let gateways: GatewayAccounts
    package let authorizer: CallAuthorizer

    package static var errors: [any Explained.Type] { [ProxyError.self] }

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        authorizer = host.feature(GrantsFeature.self).authorizer
    }

    package static func compare(with machine: inout MachineComparison) {
        guard machine.configuration[Self.enabled] else { return }
        let (key, path) = (Self.socket.keyPath, machine.configuration[Self.socket])
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
        if configuration[socket] == socket.preset { configuration[socket] = "\(directory)/proxy.sock" }
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("proxy") { table in
            table.flag("enabled", &configuration[Self.enabled])
            table.string("socket", &configuration[Self.socket], .absolutePath)
            table.string("group", &configuration[Self.group], .any)
        }
    }
}
