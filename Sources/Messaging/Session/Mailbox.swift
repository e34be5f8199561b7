import Groundwork

/// Events of a connection since the last read, merged, so that their size is bounded by the connection's window
/// however slowly they are read. One task reads it.
final class Mailbox: Sendable {
    struct News: Sendable {
        /// Set once the broker has accepted the connection: whether it had kept the session.
        var opened: Bool?
        /// Messages that the broker has acknowledged.
        var acknowledged: [Int64] = []
        /// Messages that the client library rejects.
        var unsendable: [Int64] = []
        /// Answers to subscriptions; `false` where they were refused.
        var answers: [(filter: TopicFilter, granted: Bool)] = []
        /// The broker has acknowledged something on this connection: it accepts messages, and its answers arrive.
        var isProven = false
        /// There are new messages to send.
        var hasArrivals = false
        var ending: Ending?
    }

    enum Ending: Sendable, Equatable {
        /// Closed on request.
        case closed
        /// - Parameter loss: set if the broker had accepted the connection.
        case failed(MessagingError, loss: Loss?)
    }

    /// The messages in flight when a connection was lost, and how it was lost.
    struct Loss: Sendable, Equatable {
        enum Cause: Sendable, Equatable {
            /// The broker closed it, or so it appears from here.
            case hangUp
            /// The peer vanished without closing.
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
        var isCancelled = false

        mutating func takeNews() -> News? {
            defer { news = nil }
            return news
        }
    }
    private let state = AsyncCondition(State())

    func post(_ change: (inout News) -> Void) {
        state.change { state in
            var news = state.takeNews() ?? News()
            change(&news)
            state.news = news
        }
    }

    /// - Returns: `nil` when the task is canceled.
    func next(isolation: isolated (any Actor)? = #isolation) async -> News? {
        await withTaskCancellationHandler {
            await state.wait(isolation: isolation) { state -> News?? in
                if state.isCancelled { return .some(nil) }
                guard let news = state.takeNews() else { return nil }
                return news
            }
        } onCancel: {
            state.change { $0.isCancelled = true }
        }
    }

    /// Keeps reading after a cancellation, until the connection has ended.
    func last(isolation: isolated (any Actor)? = #isolation) async -> News {
        var all = News()
        while all.ending == nil {
            let news = await state.wait { $0.takeNews() }
            all.acknowledged += news.acknowledged
            all.ending = news.ending
        }
        return all
    }
}
