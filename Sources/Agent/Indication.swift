import Board
import Groundwork
import Messaging

/// How the agent shows its state on the board's LED.
enum Indication {
    /// Dark: not enrolled. Short flashes: not registered, or no broker. On: connected.
    static func pattern(isEnrolled: Bool, isConnected: Bool) -> LEDPattern {
        guard isEnrolled else { return .off }
        return isConnected ? .on : .flashing(times: 2, pause: .seconds(2))
    }
}

extension Agent {
    /// Shows on the LED what the newest events changed; ends by cancellation.
    func indicate(on led: StatusLED) async {
        let events = events.subscribe(bound: 16)
        await led.show(await pattern())
        for await event in events where event.name.hasPrefix("broker.") || event.name.hasPrefix("gateway.") {
            await led.show(await pattern())
        }
    }

    private func pattern() async -> LEDPattern {
        guard let link else { return Indication.pattern(isEnrolled: false, isConnected: false) }
        let state = await link.station?.messenger.status().state
        return Indication.pattern(isEnrolled: true, isConnected: state == .connected)
    }
}
