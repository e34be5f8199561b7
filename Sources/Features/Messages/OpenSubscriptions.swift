import AgentCore
import Groundwork
import LocalAPI
import Messaging
import Synchronization

/// The subscriptions of local programs at one broker session, so that they end with it.
package final class OpenSubscriptions: Sendable {
    private struct Entry {
        package weak var subscription: Subscription?
    }

    private struct State {
        var entries: [Entry] = []
        var hasEnded = false
        /// Exists while anybody reads.
        package weak var encoder: MessageEncoder?
        var ending: any Error
    }
    private let state: Mutex<State>
    /// Why they end, or will end with the broker session.
    package var ending: any Error { state.withLock { $0.ending } }

    package init(endingWith ending: any Error = AgentError.subscriptionEnded) { state = Mutex(State(ending: ending)) }

    /// - Throws: ``ending`` if the broker session has ended in the meantime.
    package func add(_ subscription: Subscription) throws {
        let late = state.withLock { state in
            // Subscriptions whose readers are gone.
            state.entries.removeAll { $0.subscription == nil }
            state.entries.append(Entry(subscription: subscription))
            return state.hasEnded ? state.ending : nil
        }
        if let late { throw late }
    }

    /// The one encoder of all readers.
    package func encoder(for topics: TopicNamespace?) -> MessageEncoder {
        state.withLock { state in
            let encoder = state.encoder ?? MessageEncoder(topics)
            state.encoder = encoder
            return encoder
        }
    }

    /// Ends them all. When it returns, none of them passes on a message any more.
    ///
    /// - Parameter cause: the reason, if it is not the one it was made with.
    package func end(because cause: (any Error)? = nil) async {
        let entries = state.withLock { state in
            // Those that ended before have their reason.
            if !state.hasEnded { state.ending = cause ?? state.ending }
            state.hasEnded = true
            return state.entries
        }
        for entry in entries { await entry.subscription?.end() }
    }
}

/// Messages arriving for a local program, as the events of its stream.
///
/// Survives lost connections to the broker. Ends with an error when its registration ends, such as by a switch to
/// another gateway: its topics belong to that registration, and no message would ever arrive again. So does that of a
/// user who logs out, or whose session is locked.
package struct Deliveries {
    package let subscription: Subscription
    /// Messages on these topics are left out.
    package let leavingOut: Set<String>
    package let encoder: MessageEncoder
    /// Of the broker session, which knows why it ends.
    package let brokerSession: OpenSubscriptions

    package init(
        subscription: Subscription, leavingOut: Set<String> = [], encoder: MessageEncoder,
        brokerSession: OpenSubscriptions = OpenSubscriptions()
    ) {
        (self.subscription, self.leavingOut) = (subscription, leavingOut)
        (self.encoder, self.brokerSession) = (encoder, brokerSession)
    }

    /// Writes waiting messages at once, until the reader is gone.
    ///
    /// - Throws: ``OpenSubscriptions/ending``
    package func write(to writer: StreamWriter) async throws {
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
            // A reader that was behind meanwhile gets nothing once the subscription has ended.
            guard await writer.send(output, through: { [subscription] in subscription.pass($0) }) else {
                guard subscription.hasEnded else { return }
                break
            }
        }
        // The task of a reader that left is canceled, which ends the subscription too.
        guard !Task.isCancelled else { return }
        throw brokerSession.ending
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
