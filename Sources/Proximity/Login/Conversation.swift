import Bluetooth
import Groundwork

/// Sends the request to a connected device and waits for its answer (MAG 8.2).
struct Conversation: Sendable {
    let remote: any RemotePeripheral
    let address: String
    let settings: ProximityLoginSettings
    let clock: any ProximityClock
    let events: Broadcast<ProximityEvent>

    /// - Returns: the name of the user.
    func logIn(
        _ request: ProximityRequest, _ pending: PendingAuthorization, until deadline: Duration
    ) async throws(DeviceFailure) -> String {
        // Start reading first, because the other device may answer before the end mark is acknowledged.
        let (answers, feed) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(4))
        let reading = Task { [remote, settings] in
            for await value in remote.values where value.characteristic == settings.characteristic {
                feed.yield(String(decoding: value.bytes.prefix(256), as: UTF8.self))
            }
            feed.finish()
        }
        defer { reading.cancel() }
        try await send(request, until: min(deadline, clock.now + settings.connectionTimeout))
        do {
            let watch = AuthorizationWatch(pending: pending, plan: settings.polling, clock: clock, events: events)
            return try await watch.wait(answers: answers, until: deadline)()
        } catch {
            throw .final(error)
        }
    }

    /// Finds the characteristic, subscribes, and writes all pieces.
    ///
    /// If the device stops responding or the caller gives up, the connection is closed, which ends all pending
    /// operations.
    private func send(_ request: ProximityRequest, until limit: Duration) async throws(DeviceFailure) {
        let hangUp = Task { [clock, remote] in
            if (try? await clock.sleep(until: limit)) != nil { await remote.close() }
        }
        defer { hangUp.cancel() }
        let outcome: Result<Void, DeviceFailure> = await withTaskCancellationHandler {
            do throws(BluetoothError) {
                guard
                    let characteristic = try await remote.discover(
                        service: settings.service, characteristic: settings.characteristic)
                else { return .failure(.unreachable(.characteristicMissing(address: address))) }
                events.send(.serviceDiscovered(address: address))
                events.send(.characteristicFound(address: address))
                // A device without a working subscription can still authorize: the gateway is polled (MAG 8.2).
                _ = try await remote.subscribe(characteristic)
                let pieces = request.pieces(of: settings.pieceSize(mtu: await remote.mtu))
                let withResponse = characteristic.properties.contains(.write)
                for piece in pieces { try await remote.write(piece, to: characteristic, withResponse: withResponse) }
                events.send(.requestWritten(address: address, pieces: pieces.count))
                return .success(())
            } catch {
                let isLate = clock.now >= limit
                return .failure(
                    .unreachable(
                        isLate
                            ? .timedOut(step: "writing to \(address)")
                            : ProximityError(error) { .centralFailed(reason: $0) }))
            }
        } onCancel: { [remote] in
            Task { await remote.close() }
        }
        try outcome.get()
    }
}
