import CMosquitto
import Glibc
import Synchronization

/// One connection to a broker, on a thread of its own named `mqtt` that ends with it.
///
/// A connection is used once: what it had under way when it ended is nobody's but the outbox's.
final class Connection: Sendable {
    private struct Orders {
        var commands: [ConnectionCommand] = []
    }

    private let orders = Mutex(Orders())
    private let wake: Wake?
    private let mailbox: Mailbox

    /// Begins to connect at once. The mailbox gets to know everything, last of all the ending.
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
                    _ = latchkey_mqtt_name_thread("mqtt")
                    Unmanaged<Job>.fromOpaque(argument!).takeRetainedValue().run()
                    return nil
                }, argument.toOpaque())
        guard status == 0 else {
            argument.release()
            let reason = "no thread or descriptor is left: \(String(cString: strerror(status)))"
            mailbox.post { $0.ending = .failed(.cannotConnect(order.address, reason: reason), loss: nil) }
            return
        }
        pthread_detach(thread)
    }

    func tell(_ command: ConnectionCommand) {
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

    /// What the thread does. Keeps the connection alive while it runs.
    private final class Job: Sendable {
        let order: ConnectionOrder
        let inbox: Inbox
        let connection: Connection

        init(order: ConnectionOrder, inbox: Inbox, connection: Connection) {
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
