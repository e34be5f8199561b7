import CMosquitto
import Glibc
import Groundwork

/// One connection to a broker, on a thread of its own named `mqtt` that ends with it, and the mailbox between that
/// thread and the messenger: commands one way, news the other.
///
/// A connection is used once: messages still in flight when it ends remain in the outbox, which sends them again.
final class BrokerConnection: Sendable {
    private struct State {
        var commands: [ConnectionCommand] = []
        /// Since the last read; merged, so that their size is bounded by the window however slowly they are read.
        var news: ConnectionNews?
        var isCancelled = false

        mutating func takeNews() -> ConnectionNews? {
            defer { news = nil }
            return news
        }
    }

    private let state = AsyncCondition(State())
    /// Readable while there are commands (eventfd(2)); negative when the process has no descriptor left.
    let wake: Int32

    /// Starts connecting at once. Everything that happens is posted as news; the ending comes last.
    init(_ order: ConnectionOrder, inbox: Inbox) {
        wake = latchkey_mqtt_eventfd()
        var status = EMFILE
        if wake >= 0 {
            var thread = pthread_t()
            let loop = Unmanaged.passRetained(ConnectionLoop(order, inbox: inbox, connection: self))
            status = pthread_create(
                &thread, nil,
                { argument in
                    CurrentThread.setName("mqtt")
                    Unmanaged<ConnectionLoop>.fromOpaque(argument!).takeRetainedValue().run()
                    return nil
                }, loop.toOpaque())
            if status == 0 { pthread_detach(thread) } else { loop.release() }
        }
        guard status != 0 else { return }
        let reason = "out of threads or file descriptors: \(String(cString: strerror(status)))"
        post { $0.ending = .failed(.cannotConnect(order.address, reason: reason), loss: nil) }
    }

    deinit { if wake >= 0 { close(wake) } }

    // MARK: From the messenger

    /// Hands a command to the connection's thread, which it wakes from `poll`.
    func send(_ command: ConnectionCommand) {
        let isFirst = state.change { state in
            state.commands.append(command)
            return state.commands.count == 1
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        // Fails only when so many signals are pending that one more makes no difference.
        _ = write(wake, &one, 8)
    }

    func takeCommands() -> [ConnectionCommand] {
        // Most of the time there are none, and a change would have to look at what waits for news.
        guard state.read({ !$0.commands.isEmpty }) else { return [] }
        return state.change { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    // MARK: To the messenger

    func post(_ change: (inout ConnectionNews) -> Void) {
        state.change { state in
            var news = state.takeNews() ?? ConnectionNews()
            change(&news)
            state.news = news
        }
    }

    /// The news since the last call. One task reads them.
    ///
    /// - Returns: `nil` when the task is canceled.
    func news(isolation: isolated (any Actor)? = #isolation) async -> ConnectionNews? {
        await withTaskCancellationHandler {
            await state.wait(isolation: isolation) { state -> ConnectionNews?? in
                if state.isCancelled { return .some(nil) }
                guard let news = state.takeNews() else { return nil }
                return news
            }
        } onCancel: {
            state.change { $0.isCancelled = true }
        }
    }

    /// Keeps reading after a cancellation, until the connection has ended.
    func lastNews(isolation: isolated (any Actor)? = #isolation) async -> ConnectionNews {
        var all = ConnectionNews()
        while all.ending == nil {
            let news = await state.wait { $0.takeNews() }
            all.acknowledged += news.acknowledged
            all.ending = news.ending
        }
        return all
    }
}
