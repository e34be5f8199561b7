import Bluetooth
import Groundwork

/// Scans for devices that share a session until one is near enough, and a little longer for nearer ones.
struct NearestScan: Sendable {
    private enum Step: Sendable {
        case seen(Sighting)
        case timeOver
        case ended(ProximityError)
    }

    let transport: any BluetoothTransport
    let settings: ProximityLoginSettings
    let clock: any ProximityClock
    let events: Broadcast<ProximityEvent>

    /// - Returns: at least one device, the nearest first.
    /// - Throws: ``ProximityError``, `CancellationError`
    func run(until deadline: Duration, without ignored: Set<BluetoothAddress>) async throws -> [SignalBoard.Device] {
        guard clock.now < deadline else { throw ProximityError.noPeripheralFound(leastSignal: settings.leastSignal) }
        let sightings: AsyncThrowingStream<Sighting, any Error>
        do throws(BluetoothError) {
            sightings = try await transport.scan(for: settings.service)
        } catch {
            throw ProximityError(error) { .centralFailed(reason: $0) }
        }
        events.send(.scanStarted)
        defer { events.send(.scanStopped) }
        let (steps, feed) = AsyncStream.makeStream(of: Step.self, bufferingPolicy: .bufferingNewest(256))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                do {
                    for try await sighting in sightings { feed.yield(.seen(sighting)) }
                    feed.yield(.ended(.centralFailed(reason: "the scan ended")))
                } catch {
                    let reason = (error as? BluetoothError).map { ProximityError($0) { .centralFailed(reason: $0) } }
                    feed.yield(.ended(reason ?? .centralFailed(reason: error.reason)))
                }
            }
            wake(at: deadline, feed, in: &group)
            var board = SignalBoard(least: settings.leastSignal)
            var choosing: Duration?
            for await step in steps {
                switch step {
                case .ended(let reason): throw reason
                case .seen(let sighting) where ignored.contains(sighting.address): continue
                case .seen(let sighting):
                    report(board.see(sighting))
                    if choosing == nil, !board.nearest.isEmpty {
                        let end = min(clock.now + settings.window, deadline)
                        choosing = end
                        wake(at: end, feed, in: &group)
                    }
                case .timeOver: break
                }
                // Checked after every step, because the step for the deadline may be dropped among many sightings.
                guard clock.now >= choosing ?? deadline else { continue }
                if !board.nearest.isEmpty { return board.nearest }
                guard clock.now < deadline else {
                    throw ProximityError.noPeripheralFound(leastSignal: settings.leastSignal)
                }
                choosing = nil
            }
            throw CancellationError()
        }
    }

    private func wake(
        at time: Duration, _ feed: AsyncStream<Step>.Continuation, in group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        group.addTask { [clock] in
            if (try? await clock.sleep(until: time)) != nil { feed.yield(.timeOver) }
        }
    }

    private func report(_ outcome: SignalBoard.Outcome) {
        switch outcome {
        case .near(let device):
            events.send(.deviceDetected(address: "\(device.address)", rssi: device.signal, name: device.name))
        case .far(let device):
            events.send(.deviceTooFar(address: "\(device.address)", rssi: device.signal, least: settings.leastSignal))
        case .known: break
        }
    }
}
