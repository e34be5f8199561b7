import Board
import Gateway
import Groundwork
import Messaging
import Proximity

/// How the agent shows its state on the board's LED.
enum Indication {
    /// Dark: not enrolled. Single flashes: an enrollment waits for its gateway, or the scanner for a code; four: it was
    /// refused. Two: not registered, or no broker. On: connected.
    static func pattern(
        isEnrolled: Bool, isConnected: Bool, enrollment: FirstBootProgress.Stage? = nil
    ) -> LEDPattern {
        guard isEnrolled else {
            return switch enrollment {
            case .trying, .scanning: .flashing(times: 1, pause: .seconds(2))
            case .refused: .flashing(times: 4, pause: .seconds(2))
            case .taken, .notWiped, .notUsed, nil: .off
            }
        }
        return isConnected ? .on : .flashing(times: 2, pause: .seconds(2))
    }
}

extension Agent {
    /// Shows on the LED what the newest events changed, until canceled. A question that waits for consent comes first.
    func indicate(on led: StatusLED) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // The answer is shown for seconds, during which a scan reports many devices: no question may be lost among
        // them.
        let (agentEvents, proximityEvents) = (events.subscribe(bound: 16), nearby.events.subscribe())
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in agentEvents where event.isOfConnection { change.yield() }
            }
            group.addTask {
                var choice = ConsentLightChoice()
                for await event in proximityEvents {
                    guard let light = choice.take(event) else { continue }
                    await led.show(light.ledPattern)
                    if let lasts = light.lasts { try? await Task.sleep(for: lasts) }
                    change.yield()
                }
            }
            await led.show(await pattern())
            for await _ in changes { await led.show(await pattern()) }
            group.cancelAll()
        }
    }

    private func pattern() async -> LEDPattern {
        if let light = await nearby.desk.light { return light.ledPattern }
        guard let link = brokerLink else {
            return Indication.pattern(isEnrolled: false, isConnected: false, enrollment: firstBoot.now?.stage)
        }
        let state = await link.station?.messenger.status().state
        return Indication.pattern(isEnrolled: true, isConnected: state == .connected)
    }
}

extension AgentEvent {
    /// Whether the board may have become enrolled or connected by it, or lost that state.
    fileprivate var isOfConnection: Bool {
        guard connection == .board else { return false }
        return event is GatewayEvent || event is MessengerEvent || event is FirstBootEvent || event is AccountEvent
    }
}

extension ConsentLight {
    fileprivate var ledPattern: LEDPattern {
        switch pattern {
        case .on: .on
        case .blinking(let on, let off): .blinking(on: on, off: off)
        }
    }
}
