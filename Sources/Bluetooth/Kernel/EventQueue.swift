import Synchronization

/// What a peripheral's one reader has not taken yet. Bounded for each central alone: one that floods fills its own share.
final class EventQueue: Sendable {
    /// The most that waits of one central: events, and bytes written. A proximity request has 4096 bytes at most, in 205
    /// writes of the smallest payload.
    static let share = (events: 1024, bytes: 32_768)
    /// The most events that wait in all; beyond it no further central is let in.
    static let bound = 8192

    fileprivate struct State {
        var events: [PeripheralEvent] = []
        /// Events before this place are taken; they are dropped when there are many.
        var taken = 0
        var shares: [CentralID: (events: Int, bytes: Int)] = [:]
        var reader: CheckedContinuation<PeripheralEvent?, Never>?
        var hasEnded = false
    }
    private let state = Mutex(State())

    /// For one reader.
    var stream: AsyncStream<PeripheralEvent> {
        AsyncStream {
            await self.next()
        } onCancel: {
            self.finish()
        }
    }

    /// Whether there is room for the events of one more central.
    var hasRoom: Bool { state.withLock { $0.events.count - $0.taken < Self.bound } }

    /// - Returns: `false` where the central's share is used up; the event is not kept then.
    func put(_ event: PeripheralEvent) -> Bool {
        let (reader, isKept) = state.withLock { state -> (CheckedContinuation<PeripheralEvent?, Never>?, Bool) in
            guard !state.hasEnded else { return (nil, true) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, true)
            }
            guard state.admit(event) else { return (nil, false) }
            state.events.append(event)
            return (nil, true)
        }
        reader?.resume(returning: event)
        return isKept
    }

    /// Drops what waits of a central that has used up its share, but for its coming and going.
    func forget(_ central: CentralID) {
        state.withLock { state in
            state.events.removeFirst(state.taken)
            state.taken = 0
            state.events.removeAll { $0.load?.0 == central }
            state.shares[central] = nil
        }
    }

    private func next() async -> PeripheralEvent? {
        await withCheckedContinuation { continuation in
            let (event, isEnd) = state.withLock { state -> (PeripheralEvent?, Bool) in
                if let event = state.take() { return (event, false) }
                if state.hasEnded || state.reader != nil { return (nil, true) }
                state.reader = continuation
                return (nil, false)
            }
            if event != nil || isEnd { continuation.resume(returning: event) }
        }
    }

    /// What waits can still be read.
    func finish() {
        let reader = state.withLock { state in
            state.hasEnded = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }
}

extension EventQueue.State {
    /// Connections and their ends are few, and must not be missed: only what a central sends counts.
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
    /// Whose it is and how many bytes it holds, where a central can cause any number of it.
    fileprivate var load: (CentralID, bytes: Int)? {
        switch self {
        case .written(let central, _, let value): (central, value.count)
        case .subscribed(let central, _, _), .unsubscribed(let central, _): (central, 0)
        case .started, .interrupted, .connected, .disconnected: nil
        }
    }
}
