import CMosquitto
import Glibc
import Groundwork
import Synchronization

/// One connection to a broker, on a thread of its own named `mqtt` that ends with it.
///
/// A connection is used once: messages still in flight when it ends remain in the outbox, which sends them again.
final class BrokerConnection: Sendable {
    private struct Orders {
        var commands: [ConnectionCommand] = []
    }

    private let orders = Mutex(Orders())
    private let wake: Wake?
    private let mailbox: Mailbox

    /// Starts connecting at once. Everything that happens is posted to the mailbox; the ending comes last.
    init(_ order: ConnectionOrder, inbox: Inbox, mailbox: Mailbox) {
        self.mailbox = mailbox
        wake = Wake()
        let job = Job(order: order, inbox: inbox, connection: self)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(job)
        let status =
            wake == nil
            ? EMFILE
            : pthread_create(
                &thread, nil,
                { argument in
                    CurrentThread.setName("mqtt")
                    Unmanaged<Job>.fromOpaque(argument!).takeRetainedValue().run()
                    return nil
                }, argument.toOpaque())
        guard status == 0 else {
            argument.release()
            let reason = "out of threads or file descriptors: \(String(cString: strerror(status)))"
            mailbox.post { $0.ending = .failed(.cannotConnect(order.address, reason: reason), loss: nil) }
            return
        }
        pthread_detach(thread)
    }

    /// Hands a command to the connection's thread.
    func send(_ command: ConnectionCommand) {
        let isFirst = orders.withLock { orders in
            orders.commands.append(command)
            return orders.commands.count == 1
        }
        if isFirst { wake?.signal() }
    }

    fileprivate func takeCommands() -> [ConnectionCommand] {
        orders.withLock { orders in
            defer { orders.commands = [] }
            return orders.commands
        }
    }

    /// The work of the thread. Retains the connection while it runs.
    private final class Job: Sendable {
        let order: ConnectionOrder
        let inbox: Inbox
        let connection: BrokerConnection

        init(order: ConnectionOrder, inbox: Inbox, connection: BrokerConnection) {
            self.order = order
            self.inbox = inbox
            self.connection = connection
        }

        func run() {
            guard let wake = connection.wake else { return }
            let loop = ConnectionLoop(order, wake: wake, inbox: inbox, mailbox: connection.mailbox) {
                self.connection.takeCommands()
            }
            let ending = loop.run()
            connection.mailbox.post { $0.ending = ending }
        }
    }
}
