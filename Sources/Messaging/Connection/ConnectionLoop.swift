import CMosquitto
import Cryptography
import Glibc

/// The life of one connection: reach, shake hands, exchange packets, end. Belongs to the thread that runs it.
///
/// The library's sockets are watched by `poll(2)`, which also takes descriptors beyond 1023 (`select` in the
/// library's own loop does not), wakes for packets and commands, and otherwise when the next ping is due.
final class ConnectionLoop {
    let order: ConnectionOrder
    let wake: Wake
    private let inbox: Inbox
    private let mailbox: Mailbox
    private let commands: () -> [ConnectionCommand]

    /// The messages behind the library's packet identifiers.
    private var messages: [Int32: Int64] = [:]
    /// Acknowledged messages that have not been posted to the mailbox yet.
    private var finished: [Int64] = []
    private var filters: [Int32: TopicFilter] = [:]
    private var isOpen = false
    private var lossCause = Mailbox.Loss.Cause.silence
    /// The identifier of the message to the presence topic, until it is acknowledged.
    private var presence: Int32?
    private var isProven = false
    private var keepAlive: KeepAlive
    private var threshold = ReadThreshold()
    private static let readsAtOnce = 128

    init(
        _ order: ConnectionOrder, wake: Wake, inbox: Inbox, mailbox: Mailbox,
        commands: @escaping () -> [ConnectionCommand]
    ) {
        self.order = order
        self.wake = wake
        self.inbox = inbox
        self.mailbox = mailbox
        self.commands = commands
        keepAlive = KeepAlive(seconds: order.keepAliveSeconds, now: .now)
    }

    func run() -> Mailbox.Ending {
        defer { reportFinished() }
        guard let client = MosquittoClient(order, inbox: inbox) else {
            return .failed(
                .cannotConnect(order.address, reason: "the client identifier or the will is invalid"), loss: nil)
        }
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
            case .failed(let failure): return .failed(failure, loss: isOpen ? loss : nil)
            }
        }
    }

    private var loss: Mailbox.Loss {
        Mailbox.Loss(cause: lossCause, underWay: messages.values.sorted(), isProven: isProven)
    }

    /// Why the loop ends.
    enum Stop: Error {
        case closeRequested(announcing: Bool)
        case failed(MessagingError)
    }

    // MARK: Until the broker accepts

    /// Makes the TCP connection. The library only tries the first address of the host. If that fails, the next
    /// attempts use its addresses of one family each.
    private func reach(_ client: MosquittoClient, until deadline: ContinuousClock.Instant) throws(Stop) {
        var first: MessagingError?
        for (index, family) in [nil, "0.0.0.0", "::"].enumerated() {
            let status = mosquitto_connect_bind_async(
                client.handle, order.address.host, Int32(order.address.port), order.keepAliveSeconds, family)
            let code = errno
            switch status {
            case MOSQ_ERR_SUCCESS.code:
                let left = (deadline - .now) / (3 - index)
                guard let failure = try waitUntilWritable(client, until: .now + left) else { return }
                first = first ?? failure
            // The handshake had begun, so a peer answered.
            case MOSQ_ERR_TLS.code: throw .failed(failure(client, status, code))
            case MOSQ_ERR_ERRNO.code where Self.isReset(code): throw .failed(failure(client, status, code))
            default: first = first ?? .cannotConnect(order.address, reason: Self.reason(status, code))
            }
        }
        throw .failed(first ?? .connectTimeout(order.address, order.timeout))
    }

    /// - Returns: why the connection failed; `nil` when it is there.
    private func waitUntilWritable(
        _ client: MosquittoClient, until deadline: ContinuousClock.Instant
    ) throws(Stop) -> MessagingError? {
        while true {
            let socket = mosquitto_socket(client.handle)
            let ready = try wait(for: socket, events: POLLOUT, until: deadline)
            guard ContinuousClock.now < deadline else { return .connectTimeout(order.address, order.timeout) }
            guard ready != 0 else { continue }
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            let status = getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
            if Self.isReset(code) { throw .failed(failure(client, MOSQ_ERR_ERRNO.code, code)) }
            // If the answer was there by the library's first write, that write has cleared the error. Only this
            // machine refuses that quickly.
            guard status == 0, code == 0, ready & (POLLERR | POLLHUP) == 0 else {
                return .cannotConnect(order.address, reason: String(cString: strerror(code == 0 ? ECONNREFUSED : code)))
            }
            return nil
        }
    }

    /// TLS and CONNECT, until CONNACK. `mosquitto_want_write` is not consulted: it stays set throughout the
    /// handshake, and what is sent until then fits any socket's buffer.
    private func shakeHands(_ client: MosquittoClient, until deadline: ContinuousClock.Instant) throws(Stop) {
        while true {
            let socket = mosquitto_socket(client.handle)
            var byte: UInt8 = 0
            try step(client, mosquitto_loop_read(client.handle, 1))
            // With TLS 1.3 a broker rejects a certificate after the handshake, and hangs up. Its alert is read before
            // anything is written: a failed write would discard it.
            if !isOpen, recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0 {
                try step(client, mosquitto_loop_read(client.handle, 1))
            }
            try step(client, mosquitto_loop_write(client.handle, 1))
            if isOpen {
                client.buffer?.install()
                return client.stopLogging()
            }
            // To the library, a connection that ends during the handshake looks like a slow one.
            let peeked = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            if peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EINTR) {
                throw .failed(failure(client, MOSQ_ERR_CONN_LOST.code, errno))
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
            let socket = mosquitto_socket(client.handle)
            let mustWrite = mosquitto_want_write(client.handle) || client.buffer?.hasUnsent == true
            let events = mustWrite ? POLLIN | POLLOUT : POLLIN
            let now = ContinuousClock.now
            threshold.raise(for: min(messages.count, order.window / 2 - finished.count), on: socket)
            // Poll does not report bytes that TLS has already taken from the socket.
            let isAhead = client.buffer?.hasUnread == true
            let left = isAhead ? .zero : keepAlive.due - now
            let ready = try poll(
                socket, events: events, timeout: threshold.isRaised ? min(left, ReadThreshold.patience) : left)
            if ready == 0, threshold.isRaised, .now - now >= ReadThreshold.patience { threshold.giveUp(on: socket) }
            if isAhead || ready & (POLLIN | POLLERR | POLLHUP) != 0 {
                keepAlive.hasRead(at: .now)
                // Bounded, so that commands and pings get their turn.
                for _ in 0..<Self.readsAtOnce {
                    try step(client, mosquitto_loop_read(client.handle, 1))
                    guard client.buffer?.hasUnread == true else { break }
                }
                if !messages.isEmpty { ReadThreshold.confirm(on: socket) }
            }
            if mosquitto_want_write(client.handle) { try step(client, mosquitto_loop_write(client.handle, 1)) }
            try performCommands(client)
            if ContinuousClock.now >= keepAlive.due {
                try step(client, mosquitto_loop_misc(client.handle))
                keepAlive.hasPassed(at: .now)
            }
            client.buffer?.flush()
            // Publishers wait for it; the threshold has let acknowledgements of a batch come together.
            reportFinished()
        }
    }

    private func performCommands(_ client: MosquittoClient) throws(Stop) {
        for command in commands() {
            switch command {
            case .publish(let batch):
                for message in batch { try publish(message, with: client) }
                threshold.resume()
            case .subscribe(let filter, let qos):
                var mid: Int32 = 0
                let status = mosquitto_subscribe(client.handle, &mid, filter.text, Int32(qos.rawValue))
                filters[mid] = filter
                try step(client, status)
            case .unsubscribe(let filter): try step(client, mosquitto_unsubscribe(client.handle, nil, filter.text))
            case .close(let announcing): throw .closeRequested(announcing: announcing)
            }
            keepAlive.hasWritten(at: .now)
        }
    }

    private func publish(_ queued: QueuedMessage, with client: MosquittoClient) throws(Stop) {
        let message = queued.message
        var mid: Int32 = 0
        let status = message.payload.withUnsafeBytes {
            mosquitto_publish(
                client.handle, &mid, message.topic.name, Int32($0.count), $0.baseAddress,
                Int32(message.qos.rawValue), message.retain)
        }
        switch status {
        case MOSQ_ERR_INVAL.code, MOSQ_ERR_MALFORMED_UTF8.code, MOSQ_ERR_PAYLOAD_SIZE.code:
            mailbox.post { $0.unsendable.append(queued.id) }
        default:
            // A message of QoS 0 may have been reported already.
            messages[mid] = queued.id
            try step(client, status)
        }
    }

    /// Handles what the library reported, and the status of its last call.
    private func step(_ client: MosquittoClient, _ status: Int32) throws(Stop) {
        let code = errno
        let report = client.report
        client.report = MosquittoClient.Report(tlsReason: report.tlsReason)
        if let (code, sessionPresent) = report.connack {
            guard code == 0 else { throw .failed(.refused(order.address, BrokerRefusal(code: code))) }
            isOpen = true
            client.forgetCredentials()
            announce(client)
            mailbox.post { $0.opened = sessionPresent }
            // Without the presence message there is nothing that the broker would acknowledge.
            if presence == nil { markProven() }
        }
        if !report.acknowledged.isEmpty || !report.granted.isEmpty {
            for mid in report.acknowledged {
                if let id = messages.removeValue(forKey: mid) { finished.append(id) }
                if mid == presence { markProven() }
            }
            let answers = report.granted.compactMap { answer in
                filters.removeValue(forKey: answer.mid).map { (filter: $0, granted: answer.granted) }
            }
            if !answers.isEmpty { mailbox.post { $0.answers += answers } }
        }
        guard status == MOSQ_ERR_SUCCESS.code, mosquitto_socket(client.handle) >= 0 else {
            throw .failed(failure(client, status, code))
        }
    }

    private func markProven() {
        presence = nil
        isProven = true
        mailbox.post { $0.isProven = true }
    }

    /// Reports the messages that the broker has acknowledged.
    private func reportFinished() {
        guard !finished.isEmpty else { return }
        mailbox.post { $0.acknowledged += finished }
        finished.removeAll(keepingCapacity: true)
    }

    private func announce(_ client: MosquittoClient) {
        guard let topic = order.presenceTopic else { return }
        var mid: Int32 = 0
        // If this fails, the next step finds the connection lost.
        _ = mosquitto_publish(
            client.handle, &mid, topic.name, Int32(ConnectionOrder.online.count), ConnectionOrder.online, 1, true)
        presence = mid
    }

    // MARK: Why it failed

    private func failure(_ client: MosquittoClient, _ status: Int32, _ code: Int32) -> MessagingError {
        if !isOpen {
            if let refusal = order.credentials.tls?.lastRefusal { return .tlsRefused(order.address, refusal) }
            // OpenSSL reports "unexpected eof" for an end without a close notice.
            if let reason = client.report.tlsReason, !reason.hasPrefix("unexpected eof") {
                return .tlsFailed(order.address, reason: reason)
            }
            if status == MOSQ_ERR_CONN_LOST.code || client.report.tlsReason != nil || Self.isReset(code) {
                return .connectionLost(order.address, reason: "the broker closed it before it answered")
            }
        }
        lossCause = Self.isHangUp(status, code) ? .hangUp : .silence
        return .connectionLost(order.address, reason: Self.reason(status, code))
    }

    // MARK: Waiting

    /// - Returns: what the socket is ready for; 0 after a wake-up.
    private func wait(for socket: Int32, events: Int32, until deadline: ContinuousClock.Instant) throws(Stop) -> Int32 {
        let ready = try poll(socket, events: events, timeout: deadline - .now)
        for command in commands() {
            if case .close(let announcing) = command { throw .closeRequested(announcing: announcing) }
        }
        return ready
    }

    func poll(_ socket: Int32, events: Int32, timeout: Duration) throws(Stop) -> Int32 {
        var descriptors = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = max(0, timeout / .milliseconds(1)).rounded(.up)
        guard Glibc.poll(&descriptors, 2, Int32(min(milliseconds, 1e9))) >= 0 || errno == EINTR else {
            throw .failed(.connectionLost(order.address, reason: String(cString: strerror(errno))))
        }
        if descriptors[1].revents != 0 { wake.clear() }
        return Int32(descriptors[0].revents)
    }
}
