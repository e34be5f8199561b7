import AgentCore
import Groundwork
import LocalAPI
import Settings

/// The table `[console]`.
struct ConsoleSettings: TypedValue {
    var enabled = false
    /// 0: any that is free.
    var port = 0
    var idleMinutes = 15
    var title = "Latchkey"
    var styleSheet = ""
}

/// The console: a page for a person at the board, served on loopback while a user has opened it.
package struct ConsoleFeature: Feature {
    let host: Host
    let server: ConsoleServer

    package init(_ host: Host) {
        self.host = host
        server = ConsoleServer(
            port: UInt16(host.settings[ConsoleSettings.self].port),
            idle: .seconds(60 * host.settings[ConsoleSettings.self].idleMinutes))
    }

    package static func compare(with machine: inout MachineComparison) {
        let (key, path) = ("console.style_sheet", machine.configuration[ConsoleSettings.self].styleSheet)
        guard !path.isEmpty, case .missing = MachineComparison.look(at: path) else { return }
        machine.fail(key, "\(path) does not exist", fix: "make it, or leave the key out")
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("console") { table in
            table.flag("enabled", &configuration[ConsoleSettings.self].enabled)
            table.integer("port", &configuration[ConsoleSettings.self].port, in: 0...65535)
            table.integer("idle_minutes", &configuration[ConsoleSettings.self].idleMinutes, in: 1...1440)
            table.string("title", &configuration[ConsoleSettings.self].title, .notEmpty)
            table.string("style_sheet", &configuration[ConsoleSettings.self].styleSheet, .absolutePathOrEmpty)
        }
    }

    package static var opensSessions: Bool { true }

    package func close() async { await server.close() }
}
