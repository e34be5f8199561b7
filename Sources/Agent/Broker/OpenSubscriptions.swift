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
        // While the reader keeps up, messages are written where they arrive, and no other thread is woken for them.
        subscription.deliver { messages in writer.offer { bytes(of: messages, in: writer.form) } }
        // The subscription holds the writer until then.
        defer { subscription.finish() }
        for await delivery in subscription {
            let output = bytes(of: delivery.messages, lost: delivery.lost, in: writer.form)
            guard !output.isEmpty else { continue }
            guard await writer.send(output) else { return }
        }
        // The task of a reader that left is canceled, which ends the subscription too.
        guard !Task.isCancelled else { return }
        throw ending
    }

    private func bytes(of messages: ArraySlice<IncomingMessage>, lost: Int = 0, in form: StreamForm) -> [UInt8] {
        var output: [UInt8] = []
        if lost > 0 {
            let data: JSON = [
                "count": .integer(Int64(lost)),
                "message": .string("this reader was too slow: \(lost) messages were left out"),
            ]
            form.write("lagged", data: data.bytes, to: &output)
        }
        for message in messages where !leavingOut.contains(message.topic) {
            encoder.write(message, as: form, to: &output)
        }
        return output
    }
}
