import Synchronization

/// What happened on a connection since it was last asked, merged, so that it is bounded by the connection's window and not
/// by the patience of the reader. One task reads it.
final class Mailbox: Sendable {
    struct News {
        /// Set once the broker has accepted the connection: whether it had kept the session.
        var opened: Bool?
        /// Messages that the broker has taken over.
        var acknowledged: [Int64] = []
        /// Messages that the client library does not take.
        var unsendable: [Int64] = []
        /// Answers to subscriptions; `false` where they were refused.
        var answers: [(filter: TopicFilter, granted: Bool)] = []
        /// The broker has acknowledged something on this connection: it takes messages, and its answers pass.
        var isProven = false
        /// There are new messages to send.
        var hasArrivals = false
        var ending: Ending?
    }

    enum Ending: Sendable, Equatable {
        /// As it was told to.
        case closed
        /// - Parameter loss: how a connection ended that the broker had accepted.
        case failed(MessagingError, loss: Loss?)
    }

    /// What an ending says of the messages that it ended on.
    struct Loss: Sendable, Equatable {
        enum Cause: Sendable, Equatable {
            /// The broker ended it, or whatever looks like the broker from here.
            case hangUp
            /// The other side had gone without a word.
            case silence
        }

        var cause: Cause
        /// The messages that were sent and not acknowledged, in the order they were sent.
        var underWay: [Int64]
        /// Whether the broker had acknowledged something else on the connection.
        var isProven = true
    }

    private struct State {
        var news: News?
        var reader: CheckedContinuation<News?, Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())

    func post(_ change: (inout News) -> Void) {
        let (reader, news) = state.withLock { state in
            var news = state.news ?? News()
            change(&news)
            guard let reader = state.reader else {
                state.news = news
                return (nil as CheckedContinuation<News?, Never>?, news)
            }
            state.reader = nil
            state.news = nil
            return (reader, news)
        }
        reader?.resume(returning: news)
    }

    /// - Returns: `nil` when the task is cancelled.
    func next(isolation: isolated (any Actor)? = #isolation) async -> News? {
        await withTaskCancellationHandler {
            // Named, as a closure that does not would leave the caller's thread.
            await read(isolation: isolation) { $0.isCancelled }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                state.isCancelled = true
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }

    /// Reads on after a cancellation, until the connection has ended.
    func last(isolation: isolated (any Actor)? = #isolation) async -> News {
        var all = News()
        while all.ending == nil {
            guard let news = await read(unless: { _ in false }) else { continue }
            all.acknowledged += news.acknowledged
            all.ending = news.ending
        }
        return all
    }

    private func read(
        isolation: isolated (any Actor)? = #isolation, unless isOver: @Sendable (borrowing State) -> Bool
    ) async -> News? {
        await withCheckedContinuation { reader in
            let (now, news): (Bool, News?) = state.withLock { state in
                if isOver(state) { return (true, nil) }
                if let news = state.news {
                    state.news = nil
                    return (true, news)
                }
                state.reader = reader
                return (false, nil)
            }
            if now { reader.resume(returning: news) }
        }
    }
}
