import Cryptography
import Glibc

/// The life of one connection: reach, shake hands, exchange packets, end. Belongs to the thread that runs it.
///
/// The library's sockets are watched by `poll(2)`, which also takes descriptors beyond 1023 (`select` in the
/// library's own loop does not), wakes for packets and commands, and otherwise when the next ping is due.
final class ConnectionLoop {
    let order: ConnectionOrder
    let inbox: Inbox
    let connection: BrokerConnection

    /// The messages behind the library's packet identifiers.
    private var messages: [Int32: Int64] = [:]
    /// Acknowledged messages that have not been posted to the mailbox yet.
    private var finished: [Int64] = []
    /// The filters behind those that the broker has to answer.
    private var filters: [Int32: TopicFilter] = [:]
    private(set) var isOpen = false
    var lossCause = ConnectionLoss.Cause.silence
    /// The identifier of the message to the presence topic, until it is acknowledged.
    private var presence: Int32?
    private var isProven = false
    private var keepAlive: KeepAlive
    private var threshold = ReadThreshold()
    private var pace = ReceivePace()
    private var backlog = AnswerBacklog()
    /// Between the library and a broker that speaks WebSocket.
    var relay: WebSocketRelay?
    private static let readsAtOnce = 128

    init(_ order: ConnectionOrder, inbox: Inbox, connection: BrokerConnection) {
        self.order = order
        self.inbox = inbox
        self.connection = connection
        keepAlive = KeepAlive(seconds: order.keepAliveSeconds, now: .now)
    }

    /// Lives as long as the connection.
    func run() {
        if !order.isProbe { inbox.connectionBegins() }
        let ending = order.isProbe ? probe() : live()
        reportFinished()
        connection.post { $0.ending = ending }
    }

    private func live() -> ConnectionEnding {
        guard let client = MosquittoClient(order, inbox: inbox) else {
            return .failed(
                .cannotConnect(order.address, reason: "the client identifier or the will is invalid"), loss: nil)
        }
        defer { client.deliver() }
        do throws(Stop) {
            let deadline = ContinuousClock.now + order.timeout
            try reach(client, until: deadline)
            try shakeHands(client, until: deadline)
            try exchange(client)
        } catch {
            switch error {
            case .closeRequested(let announcing):
                if isOpen { disconnect(client, announcing: announcing) }
                return .closed
            case .failed(let failure):
                // Ended from this side: no message that was sent is to blame.
                if case .inboxUnusable = failure { return .failed(failure, loss: nil) }
                return .failed(failure, loss: isOpen ? loss : nil)
            }
        }
    }

    private var loss: ConnectionLoss {
        ConnectionLoss(cause: lossCause, underWay: messages.values.sorted(), isProven: isProven)
    }

    /// Why the loop ends.
    enum Stop: Error {
        case closeRequested(announcing: Bool)
        case failed(MessagingError)
    }

    // MARK: Until the broker accepts

    /// TLS and CONNECT, until CONNACK. `mosquitto_want_write` is not consulted: it stays set throughout the
    /// handshake, and what is sent until then fits any socket's buffer.
    private func shakeHands(_ client: MosquittoClient, until deadline: ContinuousClock.Instant) throws(Stop) {
        while true {
            let socket = client.socket
            var byte: UInt8 = 0
            // With its answer, the broker may send what it kept meanwhile.
            client.holdAcknowledgements(inbox.standing != nil)
            try step(client, client.read())
            // With TLS 1.3 a broker rejects a certificate after the handshake, and hangs up. Its alert is read before
            // anything is written: a failed write would discard it.
            if !isOpen, recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0 {
                try step(client, client.read())
            }
            if isOpen { try releaseAcknowledgements(client) }
            try step(client, client.write())
            if isOpen {
                client.buffer?.install()
                return client.stopLogging()
            }
            // To the library, a connection that ends during the handshake looks like a slow one.
            let peeked = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            if peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EINTR) {
                throw .failed(failure(client, .connectionLost(errno: errno)))
            }
            while try wait(for: socket, events: POLLIN, until: deadline) == 0 {
                guard ContinuousClock.now < deadline else {
                    throw .failed(.connectTimeout(order.address, order.timeout))
                }
            }
        }
    }

    // MARK: Connected

    private func exchange(_ client: MosquittoClient) throws(Stop) -> Never {
        while true {
            let socket = client.socket
            let mustWrite = client.wantsToWrite || client.buffer?.hasUnsent == true
            try deliver(client)
            backlog.update(isWriting: client.wantsToWrite)
            let reads = !backlog.isFull
            let events = (reads ? POLLIN : 0) | (mustWrite ? POLLOUT : 0)
            let now = ContinuousClock.now
            threshold.raise(
                for: min(messages.count, order.window / 2 - finished.count), messages: pace.bytes, on: socket)
            // Poll does not report bytes that TLS has already taken from the socket.
            let isAhead = reads && client.buffer?.hasUnread == true
            let left = isAhead ? .zero : keepAlive.due - now
            let patience = pace.isRaised ? ReceivePace.patience : ReadThreshold.patience
            let ready = try poll(socket, events: events, timeout: threshold.isRaised ? min(left, patience) : left)
            if ready == 0, threshold.isRaised, .now - now >= patience {
                if pace.isRaised { pace.end() } else { threshold.giveUp(on: socket) }
            }
            if isAhead || reads && ready & (POLLIN | POLLERR | POLLHUP) != 0 {
                keepAlive.hasRead(at: .now)
                client.holdAcknowledgements(inbox.standing != nil)
                let known = finished.count
                // Bounded, so that commands and pings get their turn.
                for _ in 0..<Self.readsAtOnce {
                    try step(client, client.read())
                    guard client.buffer?.hasUnread == true else { break }
                }
                client.acknowledge()
                backlog.add(client.takeAnswered())
                let arrived = client.takeArrived()
                if arrived.count > 0 {
                    pace.received(arrived.count, bytes: arrived.bytes)
                } else if !pace.isRaised {
                    threshold.learn(from: finished.count - known)
                }
                try releaseAcknowledgements(client)
                if !messages.isEmpty { ReadThreshold.confirm(on: socket) }
            }
            if client.wantsToWrite { try step(client, client.write()) }
            try performCommands(client)
            if ContinuousClock.now >= keepAlive.due {
                try step(client, client.keepAlive())
                keepAlive.hasPassed(at: .now)
            }
            client.buffer?.flush()
            // Publishers wait for it; the threshold has let acknowledgements of a batch come together.
            reportFinished()
        }
    }

    private func performCommands(_ client: MosquittoClient) throws(Stop) {
        for command in connection.takeCommands() {
            switch command {
            case .publish(let batch):
                for queued in batch {
                    let message = queued.message
                    guard let sent = client.publish(message.topic, message.payload, message.qos, retain: message.retain)
                    else {
                        connection.post { $0.unsendable.append(queued.id) }
                        continue
                    }
                    // Before the report is read: one of QoS 0 may be in it.
                    messages[sent.id] = queued.id
                    try step(client, sent.fault)
                }
                threshold.resume()
            case .subscribe(let filter, let qos):
                let sent = client.subscribe(to: filter, qos)
                filters[sent.id] = filter
                try step(client, sent.fault)
            case .unsubscribe(let filter):
                let sent = client.unsubscribe(from: filter)
                filters[sent.id] = filter
                try step(client, sent.fault)
            case .close(let announcing): throw .closeRequested(announcing: announcing)
            }
            keepAlive.hasWritten(at: .now)
        }
    }

    /// Handles what the library reported, and how its last call failed.
    private func step(_ client: MosquittoClient, _ fault: ClientFault?) throws(Stop) {
        let report = client.takeReport()
        if let (code, sessionPresent) = report.connack {
            guard code == 0 else { throw .failed(.refused(order.address, BrokerRefusal(code: code))) }
            isOpen = true
            client.forgetCredentials()
            announce(client)
            let address = Self.localAddress(of: relay?.socket ?? client.socket)
            connection.post { ($0.opened, $0.localAddress) = (sessionPresent, address) }
            // Without the presence message there is nothing that the broker would acknowledge.
            if presence == nil { markProven() }
        }
        if !report.acknowledged.isEmpty || !report.answers.isEmpty {
            for mid in report.acknowledged {
                if let id = messages.removeValue(forKey: mid) { finished.append(id) }
                if mid == presence { markProven() }
            }
            let answers = report.answers.compactMap { answer in
                filters.removeValue(forKey: answer.mid).map { (filter: $0, answer: answer.answer) }
            }
            if !answers.isEmpty { connection.post { $0.answers += answers } }
        }
        if let fault { throw .failed(failure(client, fault)) }
    }

    private func markProven() {
        presence = nil
        isProven = true
        connection.post { $0.isProven = true }
    }

    /// Reports the messages that the broker has acknowledged.
    private func reportFinished() {
        guard !finished.isEmpty else { return }
        connection.post { $0.acknowledged += finished }
        finished.removeAll(keepingCapacity: true)
    }

    private func announce(_ client: MosquittoClient) {
        guard let topic = order.presenceTopic else { return }
        // If this fails, the next step finds the connection lost.
        presence = client.publish(topic, ConnectionOrder.online, .atLeastOnce, retain: order.retainsPresence)?.id
    }
}
