import CBluetooth
import Dispatch

/// A connected central. Used on the peripheral's queue.
final class Central {
    let id: CentralID
    let channel: ATTChannel
    /// Its identity address, once it has revealed it.
    var address: BluetoothAddress
    /// Whether the kernel failed to report a key in time.
    var isKeyOverdue = false
    var server: GATTServer
    /// When it last sent or was sent something.
    var lastHeard = ContinuousClock.now
    /// Whether it has written any value; merely connecting shows no purpose.
    var hasWritten = false
    /// Callers waiting until a value is sent or its indication is confirmed.
    var tickets: [Int: CheckedContinuation<Result<Void, BluetoothError>, Never>] = [:]

    init(_ id: CentralID, _ channel: ATTChannel, _ database: AttributeDatabase) {
        (self.id, self.channel, address) = (id, channel, id.address)
        server = GATTServer(central: id, database: database)
    }

    func redeem(_ ticket: Int, _ result: Result<Void, BluetoothError>) {
        tickets.removeValue(forKey: ticket)?.resume(returning: result)
    }
}

extension KernelPeripheral {
    /// The most centrals: as many connections as small controllers support.
    static var centralLimit: Int { 8 }
    /// A central that sends and is sent nothing this long is disconnected: it only keeps others from the radio.
    static var silenceLimit: Duration { .seconds(120) }

    func admit(_ descriptor: Descriptor, _ address: BluetoothAddress) {
        // Without room for its events it is disconnected at once.
        guard pending.hasRoom else { return }
        if centrals.count >= Self.centralLimit {
            let idle = Self.dispensable(centrals.values.map { ($0.id, $0.hasWritten, $0.lastHeard) }).flatMap {
                centrals[$0]
            }
            guard let idle else { return advertiseAgain() }
            hangUp(idle)
        }
        centralCount += 1
        let id = CentralID(address: address, number: centralCount)
        let channel = ATTChannel(descriptor, on: queue) { [weak self] in
            self?.assumeIsolated { $0.receive(from: id) }
        } writable: { [weak self] in
            self?.assumeIsolated { $0.flush(id) }
        }
        centrals[id] = Central(id, channel, database)
        _ = pending.put(.connected(id))
        watchSilence(of: id, for: Self.silenceLimit)
        advertiseAgain()
    }

    /// The central that is disconnected for a new one: of those that have never written, the one that was silent
    /// longest. A central that has written may be waiting for a person, and is silent for that reason.
    static func dispensable(
        _ centrals: [(id: CentralID, hasWritten: Bool, lastHeard: ContinuousClock.Instant)]
    ) -> CentralID? {
        centrals.filter { !$0.hasWritten }.min { $0.lastHeard < $1.lastHeard }?.id
    }

    private func receive(from id: CentralID) {
        // A few at a time, because others use the queue too.
        for _ in 0..<16 {
            guard let central = centrals[id], !central.channel.isCongested, settleSecurity(of: central) else { return }
            switch central.channel.read() {
            case .nothing: return
            case .ended: return drop(central, .disconnected)
            case .bytes(let packet):
                central.lastHeard = .now
                perform(central.server.receive(packet, now: .now), of: central)
            }
        }
    }

    private func flush(_ id: CentralID) {
        guard let central = centrals[id] else { return }
        if !central.channel.flush() { hangUp(central) }
    }

    private func perform(_ effects: [GATTServer.Effect], of central: Central) {
        for effect in effects {
            switch effect {
            case .send(let packet): if !central.channel.send(packet) { hangUp(central) }
            case .event(let event):
                if case .written = event { central.hasWritten = true }
                guard centrals[central.id] != nil, !pending.put(event) else { continue }
                pending.forget(central.id)
                hangUp(central)
            case .delivered(let ticket): central.redeem(ticket, .success(()))
            case .failed(let ticket, let error): central.redeem(ticket, .failure(error))
            case .close: hangUp(central)
            }
        }
        if let deadline = central.server.deadline { watchDeadline(of: central.id, deadline) }
    }

    private func watchDeadline(of id: CentralID, _ deadline: ContinuousClock.Instant) {
        queue.queue.asyncAfter(deadline: .now() + ContinuousClock.now.duration(to: deadline).dispatched) {
            [weak self] in
            self?.assumeIsolated { this in
                guard let central = this.centrals[id] else { return }
                this.perform(central.server.advance(to: .now), of: central)
            }
        }
    }

    private func watchSilence(of id: CentralID, for rest: Duration) {
        queue.queue.asyncAfter(deadline: .now() + rest.dispatched) { [weak self] in
            self?.assumeIsolated { this in
                guard let central = this.centrals[id] else { return }
                let rest = Self.silenceLimit - central.lastHeard.duration(to: .now)
                if rest > .zero { this.watchSilence(of: id, for: rest) } else { this.hangUp(central) }
            }
        }
    }

    // MARK: Calls of the application

    /// Each central has its own channel, so none has to be disconnected.
    func notify(
        _ value: [UInt8], to id: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError) {
        guard let central = centrals[id] else { throw .disconnected }
        ticketCount += 1
        let ticket = ticketCount
        central.lastHeard = .now
        _ = settleSecurity(of: central)
        let outcome = await withCheckedContinuation { continuation in
            central.tickets[ticket] = continuation
            perform(
                central.server.notify(value, characteristic: characteristic, ticket: ticket, now: .now), of: central)
        }
        try outcome.get()
    }

    func disconnect(_ id: CentralID) async {
        guard let central = centrals[id] else { return }
        drop(central, .disconnected)
        await hangUp(central.address)
    }

    private func hangUp(_ central: Central) {
        guard centrals[central.id] != nil else { return }
        let isGone = central.channel.isGone
        drop(central, .disconnected)
        if isGone { return }
        Task { await hangUp(central.address) }
    }

    /// Closing only the channel would leave the link up for some seconds, in which the central believes that all is
    /// well.
    private func hangUp(_ address: BluetoothAddress) async {
        // The central may have disconnected by itself meanwhile, and reconnected.
        guard let adapterIndex, !centrals.values.contains(where: { $0.address == address }) else { return }
        _ = try? await socket.send(.disconnect(adapterIndex, address))
    }

    private func drop(_ central: Central, _ error: BluetoothError) {
        guard centrals.removeValue(forKey: central.id) != nil else { return }
        central.channel.close()
        _ = central.server.end(error)
        for ticket in Array(central.tickets.keys) { central.redeem(ticket, .failure(error)) }
        _ = pending.put(.disconnected(central.id))
    }
}
