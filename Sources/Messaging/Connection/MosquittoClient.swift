import CMosquitto
import CReadHook
import Cryptography
import FoundationEssentials
import Glibc

/// A libmosquitto client for one connection, freed with this object. Used on one thread only; the library starts no
/// thread and never reconnects by itself.
final class MosquittoClient {
    /// What the library reported while one of its functions ran.
    struct Report {
        var connack: (code: Int, sessionPresent: Bool)?
        var acknowledged: [Int32] = []
        var answers: [(mid: Int32, answer: SubscriptionAnswer)] = []
        /// The last error the TLS library explained.
        var tlsReason: String?
    }

    private let handle: OpaquePointer
    private var report = Report()
    private let inbox: Inbox
    private let reads: GatedReads
    private let leavesInboxMessages: Bool
    /// Messages that were received and not delivered yet.
    private var received: [IncomingMessage] = []
    private var receivedBytes = 0
    /// Of the message that was received last.
    private var topic = ""
    private var arrived = (count: 0, bytes: 0)
    private var isUnkept = false
    /// With this many bytes they are delivered at once.
    private static let batchBytes = 64 << 10
    /// Holds the certificates and pins that the handshake is verified with.
    private let tls: TLSContext?

    private static let library: Int32 = mosquitto_lib_init()

    /// The system's libmosquitto.
    static var libraryVersion: String {
        var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
        mosquitto_lib_version(&major, &minor, &revision)
        return "\(major).\(minor).\(revision)"
    }

    /// - Returns: `nil` when memory runs out or the client id is not UTF-8.
    init?(_ order: ConnectionOrder, inbox: Inbox) {
        self.inbox = inbox
        leavesInboxMessages = order.leavesInboxMessages
        var withholds: PacketGate.Withholding?
        if order.leavesInboxMessages, let inboxes = inbox.standing {
            withholds = { inboxes.wants(messageTo: $0, retained: $1) }
        }
        reads = GatedReads(payloadLimit: inbox.payloadLimit, withholds: withholds)
        tls = order.tlsOfLibrary
        // The library writes a byte for each packet that it queues, such as an acknowledgement, to wake a loop of its
        // own that does not run here. It does without where it cannot have the pair of sockets for that.
        latchkey_refuse_socket_pairs(true)
        defer { latchkey_refuse_socket_pairs(false) }
        guard Self.library == MOSQ_ERR_SUCCESS.code,
            let handle = mosquitto_new(order.credentials.clientID, order.cleanSession, nil)
        else { return nil }
        self.handle = handle
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        guard configure(order) else { return nil }
        setCallbacks()
    }

    deinit {
        // Frees the library's client, and with it the pointer to this object.
        mosquitto_destroy(handle)
    }

    private func configure(_ order: ConnectionOrder) -> Bool {
        var statuses = [
            mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311),
            // Acknowledgements and single messages must not wait for each other (Nagle's algorithm).
            mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1),
            // ``SendWindow`` limits the messages in flight; 0 means no limit here.
            mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, 0),
        ]
        if let tls {
            statuses.append(mosquitto_void_option(handle, MOSQ_OPT_SSL_CTX, tls.handle))
            statuses.append(mosquitto_int_option(handle, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0))
        }
        if let will = order.will
            ?? order.presenceTopic.map({
                Will(topic: $0, payload: ConnectionOrder.offline, qos: 1, retain: order.retainsPresence)
            })
        {
            statuses.append(
                mosquitto_will_set(
                    handle, will.topic.name, Int32(will.payload.count), will.payload, Int32(will.qos), will.retain))
        }
        statuses.append(setCredentials(order.credentials))
        return statuses.allSatisfy { $0 == MOSQ_ERR_SUCCESS.code }
    }

    /// The library keeps a copy of the password until ``forgetCredentials()``; our own copy is wiped.
    private func setCredentials(_ credentials: BrokerCredentials) -> Int32 {
        guard let userName = credentials.userName else { return MOSQ_ERR_SUCCESS.code }
        guard let password = credentials.password else { return mosquitto_username_pw_set(handle, userName, nil) }
        var text = password.withUnsafeBytes { secret in
            [UInt8](unsafeUninitializedCapacity: secret.count + 1) { bytes, count in
                UnsafeMutableRawBufferPointer(bytes).copyBytes(from: secret)
                bytes[secret.count] = 0
                count = secret.count + 1
            }
        }
        defer { wipe(&text) }
        return text.withUnsafeBytes {
            mosquitto_username_pw_set(handle, userName, $0.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }

    /// Called once the broker has accepted them: a handle connects only once.
    func forgetCredentials() { _ = mosquitto_username_pw_set(handle, nil, nil) }

    // MARK: Calls

    /// Negative without a connection.
    var socket: Int32 { mosquitto_socket(handle) }
    var wantsToWrite: Bool { mosquitto_want_write(handle) }

    /// What the library reported since the last call; the reason of a failure of TLS stays.
    func takeReport() -> Report {
        defer { report = Report(tlsReason: report.tlsReason) }
        return report
    }

    /// Starts to connect.
    ///
    /// - Parameter family: `0.0.0.0` or `::` for addresses of one family only.
    func connect(to order: ConnectionOrder, family: String?) -> ClientFault? {
        let status = mosquitto_connect_bind_async(
            handle, order.address.host, Int32(order.address.port), order.keepAliveSeconds, family)
        return status == MOSQ_ERR_SUCCESS.code ? nil : ClientFault(status, errno)
    }

    /// Connects by a connection that was made for the library, which takes a copy of it.
    func connect(to order: ConnectionOrder, by socket: Int32) -> ClientFault? {
        latchkey_connect_to(socket)
        defer { latchkey_connect_to(-1) }
        // Without a port, it takes the host for the path of a socket and looks up nothing; to TLS it is the host.
        let status = mosquitto_connect_bind_async(handle, order.address.host, 0, order.keepAliveSeconds, nil)
        return status == MOSQ_ERR_SUCCESS.code ? nil : ClientFault(status, errno)
    }

    /// Reads at most one packet.
    func read() -> ClientFault? {
        let connection = mosquitto_ssl_get(handle)
        // The library's first reads with TLS only make its connection.
        guard tls == nil || connection != nil else { return fault(of: mosquitto_loop_read(handle, 1)) }
        var fault = fault(
            of: reads.pass(socket: socket, tls: connection, collects: !wantsToWrite) {
                mosquitto_loop_read(handle, 1)
            })
        fault?.isOfUnreleased = reads.hasUnreleased
        return fault
    }
    /// How many packets were read since the last call that the library answers.
    func takeAnswered() -> Int { reads.takeAnswered() }
    /// Writes the acknowledgements of the packets read since the last call, in one TLS record.
    func acknowledge() { if mosquitto_ssl_get(handle) != nil { reads.writeCollected() } }
    func write() -> ClientFault? { fault(of: mosquitto_loop_write(handle, 1)) }
    /// Pings the broker, if a ping is due.
    func keepAlive() -> ClientFault? { fault(of: mosquitto_loop_misc(handle)) }

    /// - Returns: the identifier under which the library reports the message; `nil` if it rejects it.
    func publish(_ topic: Topic, _ payload: [UInt8], _ qos: QoS, retain: Bool) -> (id: Int32, fault: ClientFault?)? {
        var id: Int32 = 0
        let status = mosquitto_publish(
            handle, &id, topic.name, Int32(payload.count), payload, Int32(qos.rawValue), retain)
        switch status {
        case MOSQ_ERR_INVAL.code, MOSQ_ERR_MALFORMED_UTF8.code, MOSQ_ERR_PAYLOAD_SIZE.code: return nil
        default: return (id, fault(of: status))
        }
    }

    /// - Returns: the identifier under which the library reports the answer.
    func subscribe(to filter: TopicFilter, _ qos: QoS) -> (id: Int32, fault: ClientFault?) {
        var id: Int32 = 0
        let status = mosquitto_subscribe(handle, &id, filter.text, Int32(qos.rawValue))
        return (id, fault(of: status))
    }

    /// - Returns: the identifier under which the library reports the answer.
    func unsubscribe(from filter: TopicFilter) -> (id: Int32, fault: ClientFault?) {
        var id: Int32 = 0
        let status = mosquitto_unsubscribe(handle, &id, filter.text)
        return (id, fault(of: status))
    }

    /// Writes immediately; closing TLS flushes the rest.
    func disconnect() { _ = mosquitto_disconnect(handle) }

    private func fault(of status: Int32) -> ClientFault? {
        let code = errno
        return status == MOSQ_ERR_SUCCESS.code && socket >= 0 ? nil : ClientFault(status, code)
    }

    /// The buffer of the connection's TLS; `nil` without TLS, or once the library has closed the socket.
    var buffer: TLSBuffer? { mosquitto_ssl_get(handle).map(TLSBuffer.init) }

    // MARK: Callbacks

    private func setCallbacks() {
        mosquitto_connect_with_flags_callback_set(handle) { _, client, code, flags in
            MosquittoClient.of(client).report.connack = (Int(code), flags & 1 != 0)
        }
        mosquitto_publish_callback_set(handle) { _, client, mid in
            MosquittoClient.of(client).report.acknowledged.append(mid)
        }
        mosquitto_subscribe_callback_set(handle) { _, client, mid, count, qos in
            let granted = count > 0 && qos.map { $0[0] >= 0 && $0[0] <= 2 } ?? false
            MosquittoClient.of(client).report.answers.append((mid, granted ? .granted : .refused))
        }
        mosquitto_unsubscribe_callback_set(handle) { _, client, mid in
            MosquittoClient.of(client).report.answers.append((mid, .ended))
        }
        mosquitto_message_callback_set(handle) { _, client, message in
            guard let message else { return }
            MosquittoClient.of(client).receive(message.pointee)
        }
        mosquitto_log_callback_set(handle) { _, client, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            MosquittoClient.of(client).note(String(cString: text))
        }
    }

    /// The library calls back only from within its functions, which only this object's owner calls.
    private static func of(_ client: UnsafeMutableRawPointer?) -> MosquittoClient {
        Unmanaged<MosquittoClient>.fromOpaque(client!).takeUnretainedValue()
    }

    private func receive(_ message: mosquitto_message) {
        let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
        // Most have that of the message before. The library accepts none without.
        if let name = message.topic, topic.withCString({ strcmp($0, name) }) != 0 { topic = String(cString: name) }
        arrived.count += 1
        arrived.bytes += payload.count + topic.utf8.count
        let bytes = reads.discarded ?? payload.count
        guard bytes <= inbox.payloadLimit else { return inbox.discard(bytes: bytes, to: topic) }
        received.append(
            IncomingMessage(
                topic: topic, payload: [UInt8](payload), qos: QoS(requested: Int(message.qos)) ?? .atMostOnce,
                retained: message.retain, receivedAt: Date()))
        receivedBytes += payload.count
        if receivedBytes >= Self.batchBytes { deliver() }
    }

    /// Messages received since the last call, with the bytes of their topics and payloads.
    func takeArrived() -> (count: Int, bytes: Int) {
        defer { arrived = (0, 0) }
        return arrived
    }

    /// While it is held, acknowledgements of received messages wait in the library for ``write()``.
    func holdAcknowledgements(_ isHeld: Bool) { _ = mosquitto_threaded_set(handle, isHeld) }

    /// Delivers the messages received since the last call, so that each subscriber is woken once for all of them.
    ///
    /// - Returns: false once some could not be kept: then nothing may be acknowledged on this connection any more.
    @discardableResult
    func deliver() -> Bool {
        guard !isUnkept, !received.isEmpty else { return !isUnkept }
        isUnkept = !inbox.deliver(received, keeping: !leavesInboxMessages)
        received.removeAll(keepingCapacity: received.count <= 64)
        receivedBytes = 0
        return !isUnkept
    }

    /// Keeps the last part of a line such as `OpenSSL Error[0]: error:0A000418:SSL routines::tlsv1 alert unknown ca`.
    private func note(_ text: String) {
        guard text.hasPrefix("OpenSSL Error"), report.tlsReason == nil else { return }
        report.tlsReason = text.split(separator: ":").last.map(String.init)
    }

    /// Called when no handshake errors are expected any more: otherwise the library formats a log line for every
    /// packet, only to discard it.
    func stopLogging() { mosquitto_log_callback_set(handle, nil) }
}
