import Foundation
import Groundwork
import Synchronization

/// The lab's recent events and messages, and request counts by endpoint. Bounded; the oldest are dropped first.
final class Journal: Sendable {
    static let eventLimit = 2000
    static let messageLimit = 500

    private struct State {
        var events: [LabEvent] = []
        var next = 1
        var counts: [Endpoint: Int] = [:]
        var messages: [LabMessage] = []
    }
    private let state = Mutex(State())
    let broadcast = Broadcast<LabEvent>()
    let arrivals = Broadcast<LabMessage>()

    var events: [LabEvent] { state.withLock { $0.events } }
    var counts: [Endpoint: Int] { state.withLock { $0.counts } }
    var messages: [LabMessage] { state.withLock { $0.messages } }

    func resetCounts() { state.withLock { $0.counts = [:] } }

    func count(_ endpoint: Endpoint) { state.withLock { $0.counts[endpoint, default: 0] += 1 } }

    func record(
        _ kind: LabEvent.Kind, _ text: String, endpoint: Endpoint? = nil, status: Int? = nil, errorCode: Int? = nil,
        magIdentifier: String? = nil, at time: Date
    ) {
        // Numbered and enqueued inside the lock, so that everyone sees one order.
        state.withLock { state in
            let event = LabEvent(
                number: state.next, time: time, kind: kind, endpoint: endpoint, status: status, errorCode: errorCode,
                magIdentifier: magIdentifier, text: text)
            state.next += 1
            state.events.append(event)
            // A tenth at a time, so that a full journal does not move everything for each event.
            if state.events.count > Self.eventLimit { state.events.removeFirst(Self.eventLimit / 10) }
            broadcast.enqueue(event)
        }
        broadcast.deliver()
    }

    func record(_ message: LabMessage) {
        state.withLock { state in
            state.messages.append(message)
            if state.messages.count > Self.messageLimit { state.messages.removeFirst(Self.messageLimit / 10) }
            arrivals.enqueue(message)
        }
        arrivals.deliver()
    }

    func finish() {
        broadcast.finish()
        arrivals.finish()
    }
}
