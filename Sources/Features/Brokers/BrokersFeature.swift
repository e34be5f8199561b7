import AgentCore
import AgentMessages
import Groundwork
import LocalAPI
import Messaging
import Settings

/// Accounts at brokers: the board's messages may go to one of them, and programs may use each.
package struct BrokersFeature: Feature {
    let host: Host
    let kind: BrokerKind
    let board: BoardBroker

    package static var errors: [any Explained.Type] { [BrokerError.self] }

    package static var recordRules: RecordRules { RecordRules { BrokerAccount.needsKey($0, $2) } }

    package init(_ host: Host) {
        self.host = host
        board = host.feature(MessagesFeature.self).broker
        kind = BrokerKind(host, board)
    }

    /// Those that programs use, without the board's own connection.
    package var all: [NamedBroker] { kind.all }

    package var accountKinds: [any AccountKind] { [kind] }

    package static var accountMembers: [String: Schema] {
        ["broker": NamedBroker.answer.schema("A broker, with the state of the connection")]
    }

    package static func hosts(in configuration: AgentConfiguration) -> [String] {
        configuration.brokers.map(\.address.host)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (brokers, faults) = BrokerAccount.read(from: &root)
        configuration.brokers = brokers
        root.adopt(faults)
    }

    package func resume() async { await kind.resume() }

    package func close() async { await kind.close() }

    package func warnings() async throws -> [String] { kind.warnings }

    package func addRoutes(to router: inout Router) {
        addBrokerRoutes(to: &router)
        addAccountRoutes(to: &router)
    }
}
