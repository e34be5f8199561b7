import AgentCore
import AgentGateway
import Board
import Gateway
import Groundwork
import Messaging

/// How the board's LED shows the connection to the broker.
package enum ConnectionLight {
    /// Dark: not enrolled. Two flashes: not registered, or no broker. On: connected.
    package static func pattern(isEnrolled: Bool, isConnected: Bool) -> LEDPattern? {
        guard isEnrolled else { return nil }
        return isConnected ? .on : .flashing(times: 2, pause: .seconds(2))
    }
}

extension MessagesFeature {
    /// Shows what the newest events changed, until canceled.
    package func showConnection(after events: AsyncStream<AgentEvent>) async {
        await showConnection()
        for await event in events where event.isOfConnection { await showConnection() }
    }

    private func showConnection() async {
        let keeper = await broker.keeper
        let state = await keeper?.brokerSession?.messenger.status().state
        host.lights.show(
            ConnectionLight.pattern(isEnrolled: keeper != nil, isConnected: state == .connected), .connection)
    }
}

extension AgentEvent {
    /// Whether the board may have become enrolled or connected by it, or lost that state.
    fileprivate var isOfConnection: Bool {
        connection == .board && (event is GatewayEvent || event is MessengerEvent || event is AccountEvent)
    }
}
