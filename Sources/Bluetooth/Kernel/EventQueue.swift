import Groundwork

/// Events that a peripheral's reader has not taken yet. Bounded for each central separately: a flooding central only
/// fills its own share.
final class EventQueue: Sendable {
    /// The most events and written bytes that wait from one central. A proximity request has at most 4096 bytes, in
    /// 205 writes of the smallest payload.
    static let share = (events: 1024, bytes: 32_768)
    /// The most waiting events in total; beyond it no further central is admitted.
    static let bound = 8192

    fileprivate struct State {
        var events: [PeripheralEvent] = []
        /// Events before this index have been taken; they are removed when there are many.
        var taken = 0
        var shares: [CentralID: (events: Int, bytes: Int)] = [:]
        var hasEnded = false
    }
    private let state = AsyncCondition(State())

    /// For one reader.
    var stream: AsyncStream<PeripheralEvent> {
        AsyncStream {
            await self.next()
        } onCancel: {
            self.finish()
        }
    }

    /// Whether there is room for the events of one more central.
    var hasRoom: Bool { state.read { $0.events.count - $0.taken < Self.bound } }

    /// - Returns: `false` if the central's share is used up; the event is then discarded.
    func put(_ event: PeripheralEvent) -> Bool {
        state.change { state in
            guard !state.hasEnded else { return true }
            guard state.admit(event) else { return false }
            state.events.append(event)
            return true
        }
    }

    /// Drops the waiting events of a central that has used up its share, except its connection and disconnection.
    func forget(_ central: CentralID) {
        state.change { state in
            state.events.removeFirst(state.taken)
            state.taken = 0
            state.events.removeAll { $0.load?.0 == central }
            state.shares[central] = nil
        }
    }

    private func next() async -> PeripheralEvent? {
        await state.wait { state -> PeripheralEvent?? in
            if let event = state.take() { return event }
            return state.hasEnded ? .some(nil) : nil
        }
    }

    /// Ends the queue; waiting events can still be read.
    func finish() { state.change { $0.hasEnded = true } }
}

extension EventQueue.State {
    /// Only events caused by a central's packets count: connections and disconnections are few and must not be missed.
    fileprivate mutating func admit(_ event: PeripheralEvent) -> Bool {
        guard let (central, bytes) = event.load else { return true }
        let share = shares[central] ?? (0, 0)
        guard share.events < EventQueue.share.events, share.bytes + bytes <= EventQueue.share.bytes else {
            return false
        }
        shares[central] = (share.events + 1, share.bytes + bytes)
        return true
    }

    fileprivate mutating func take() -> PeripheralEvent? {
        guard taken < events.count else { return nil }
        let event = events[taken]
        taken += 1
        if taken == events.count || taken >= 256 {
            events.removeFirst(taken)
            taken = 0
        }
        if let (central, bytes) = event.load, let share = shares[central] {
            shares[central] = share.events == 1 ? nil : (share.events - 1, share.bytes - bytes)
        }
        return event
    }
}

extension PeripheralEvent {
    /// The central and the number of bytes of an event that a central can cause any number of times.
    fileprivate var load: (CentralID, bytes: Int)? {
        switch self {
        case .written(let central, _, let value): (central, value.count)
        case .subscribed(let central, _, _), .unsubscribed(let central, _): (central, 0)
        case .started, .interrupted, .connected, .disconnected: nil
        }
    }
}
