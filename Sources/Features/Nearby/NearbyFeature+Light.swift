import AgentCore
import Board
import Groundwork
import Proximity

extension NearbyFeature {
    /// Shows on the board's LED that a question waits for consent, and how it was answered, until canceled.
    package func showConsent(after events: AsyncStream<ProximityEvent>) async {
        var choice = ConsentLightChoice()
        for await event in events {
            guard let light = choice.take(event) else { continue }
            host.lights.show(light.ledPattern, .consent)
            guard let lasts = light.lasts else { continue }
            try? await Task.sleep(for: lasts)
            // Another question may have come meanwhile.
            host.lights.show(await nearby.desk.light?.ledPattern, .consent)
        }
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
