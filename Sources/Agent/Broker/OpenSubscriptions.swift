import Groundwork
import LocalAPI
import Messaging
import Synchronization

/// The subscriptions of local programs at one station, so that they end with it.
final class OpenSubscriptions: Sendable {
    private struct Entry {
        weak var subscription: Subscription?
    }

    private struct State {
        var entries: [Entry] = []
        var hasEnded = false
        /// There while anybody reads.
        weak var encoder: MessageEncoder?
    }
    private let state = Mutex(State())
    /// Why they end with the station.
    let ending: any Error

    init(endingWith ending: any Error = AgentError.subscriptionEnded) { self.ending = ending }

    /// - Throws: ``ending`` if the station has ended in the meantime.
    func add(_ subscription: Subscription) throws {
        let isLate = state.withLock { state in
            // Subscriptions whose readers are gone.
            state.entries.removeAll { $0.subscription == nil }
            state.entries.append(Entry(subscription: subscription))
            return state.hasEnded
        }
        if isLate { throw ending }
    }

    /// The one encoder of all readers.
    func encoder(for topics: TopicNamespace?) -> MessageEncoder {
        state.withLock { state in
            let encoder = state.encoder ?? MessageEncoder(topics)
            state.encoder = encoder
            return encoder
        }
    }

    func end() {
        let entries = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.entries
        }
        for entry in entries { entry.subscription?.finish() }
    }
}

/// Messages arriving for a local program, as the events of its stream.
///
/// Survives lost connections to the broker. Ends with an error when its registration ends, such as by a switch to
/// another gateway: its topics belong to that registration, and no message would ever arrive again. So does that of a
/// user who logs out.
struct Deliveries {
    let subscription: Subscription
    /// Messages on these topics are left out.
    var leavingOut: Set<String> = []
    let encoder: MessageEncoder
    /// Why it ends.
    var ending: any Error = AgentError.subscriptionEnded

    /// Writes what is there at once, until the reader is gone.
    ///
    /// - Throws: ``ending``
    func write(to writer: StreamWriter) async throws {
        // Reports that the broker has accepted the subscription: no message sent from now on is missed.
        let begin = LocalEvent(name: "subscribed", data: ["filter": .string(subscription.filter.text)])
        guard await writer.send(begin) else { return }
        for await delivery in subscription {
            var output: [UInt8] = []
            if delivery.lost > 0 {
                let data: JSON = [
                    "count": .integer(Int64(delivery.lost)),
                    "message": .string("this reader was too slow: \(delivery.lost) messages were left out"),
                ]
                writer.form.write("lagged", data: data.bytes, to: &output)
            }
            for message in delivery.messages where !leavingOut.contains(message.topic) {
                encoder.write(message, as: writer.form, to: &output)
            }
            guard !output.isEmpty else { continue }
            guard await writer.send(output) else { return }
        }
        // The task of a reader that left is canceled, which ends the subscription too.
        guard !Task.isCancelled else { return }
        throw ending
    }
}
