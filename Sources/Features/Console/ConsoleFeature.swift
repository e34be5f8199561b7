import AgentCore
import Groundwork
import LocalAPI
import Settings

/// The console: a page for a person at the board, served on loopback while a user has opened it.
package struct ConsoleFeature: Feature {
    static let enabled = Setting("console.enabled", preset: false)
    static let port = Setting("console.port", preset: 0)
    static let idleMinutes = Setting("console.idle_minutes", preset: 15)
    static let title = Setting("console.title", preset: "Latchkey")
    static let styleSheet = Setting("console.style_sheet", preset: "")

    let host: Host
    let server: ConsoleServer

    package init(_ host: Host) {
        self.host = host
        server = ConsoleServer(
            port: UInt16(host.settings[Self.port]), idle: .seconds(60 * host.settings[Self.idleMinutes]))
    }

    package static func compare(with machine: inout MachineComparison) {
        let (key, path) = (styleSheet.keyPath, machine.configuration[styleSheet])
        guard !path.isEmpty, case .missing = MachineComparison.look(at: path) else { return }
        machine.fail(key, "\(path) does not exist", fix: "make it, or leave the key out")
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("console") { table in
            table.flag("enabled", &configuration[Self.enabled])
            table.integer("port", &configuration[Self.port], in: 0...65535)
            table.integer("idle_minutes", &configuration[Self.idleMinutes], in: 1...1440)
            table.string("title", &configuration[Self.title], .notEmpty)
            table.string("style_sheet", &configuration[Self.styleSheet], .absolutePathOrEmpty)
        }
    }

    package static var opensSessions: Bool { true }

    package func close() async { await server.close() }
}
