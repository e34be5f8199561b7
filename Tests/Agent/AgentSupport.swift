import Board
import Cryptography
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Logging
import Messaging
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Agent
@testable import AgentBoard
@testable import AgentCalls
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentGateway
@testable import AgentMessages
@testable import AgentNearby
@testable import LocalAPI

/// An agent on a board without parts, unless `configure` names some, not enrolled anywhere, with a vault of its own.
func withAgent(
    _ configure: (inout AgentConfiguration) -> Void = { _ in }, features: [any Feature.Type] = Features.all,
    _ body: (Agent, String) async throws -> Void
) async throws {
    try await withFolder { folder in
        var configuration = AgentConfiguration()
        configuration.stateDirectory = folder
        configuration.board = BoardSettings(definition: "absent", directories: [folder])
        configure(&configuration)
        let vault = try await Vault.open(
            at: folder + "/vault.db", with: [DevelopmentKeyFile(folder + "/vault.key")], creating: true)
        let time = BestKnownTime(path: folder + "/clock")
        let agent = Agent(
            configuration: configuration, vault: vault, client: HTTPClient(),
            time: time,
            board: BoardParts(configuration.board, time: time),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, features: features)
        try await body(agent, folder)
        await agent.end()
    }
}

extension Agent {
    var gateways: GatewayAccounts { host.feature(GatewayFeature.self).gateways }
    var broker: BoardBroker { host.feature(MessagesFeature.self).broker }
    var nearby: Nearby { host.feature(NearbyFeature.self).nearby }
    var authorizer: CallAuthorizer { host.feature(GrantsFeature.self).authorizer }
    var boot: FirstBootFeature { host.feature(FirstBootFeature.self) }
    var hardware: HardwareFeature { host.feature(HardwareFeature.self) }
}
