import AgentCore
import AgentMessages
import Board
import Groundwork
import LocalAPI
import Settings

/// Announces the board's sensors, its button and its LED to Home Assistant, over the broker of the board's messages.
package struct HomeAssistantFeature: Feature {
    private let host: Host
    private let announcer: Announcer

    package init(_ host: Host) {
        self.host = host
        announcer = Announcer(host, host.feature(MessagesFeature.self).broker)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        HomeAssistantSettings.read(from: &root, into: &configuration)
    }

    package func services() -> [any Service] {
        guard announcer.hasWork else { return [] }
        let (events, samples) = (host.events.subscribe(), host.board.poller.samples.subscribe(bound: 1))
        return [host.restarting("Home Assistant") { await announcer.run(events, samples) }]
    }

    package static var checks: [any HealthCheck] { [HomeAssistantCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let settings = host.settings.homeAssistant
        guard settings.enabled else { return }
        var found: [String: JSON] = ["prefix": .string(settings.discoveryPrefix)]
        if let message = await announcer.announced {
            found["entities"] = .integer(Int64(message.entities.count))
            found["leftOut"] = .integer(Int64(message.leftOut))
        }
        state.found[HomeAssistantCheck.name] = .object(found)
    }

    package static var events: [any ReportedEvent.Type] { [HomeAssistantEvent.self] }
}
