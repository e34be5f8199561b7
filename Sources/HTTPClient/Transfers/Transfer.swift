import CCurl
import Cryptography

/// One request in progress on an easy handle, with libcurl's callbacks for it. Used on the transfer thread only.
final class Transfer {
    let order: TransferOrder
    let easy: EasyHandle
    /// Kept until the transfer is over: the easy handle points to all of these.
    private let pool: ConnectionPool
    private let upload: UploadBuffer?
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var isClosed = false

    private var head = ResponseHead()
    /// Why a callback ended the transfer; libcurl only knows that one did.
    private var failure: HTTPError?
    /// The context of the newest handshake of this transfer.
    private var tls: TLSContext?
    /// The server's newest alert.
    private var alert: TLSAlert?
    /// Whether the connection, including its TLS session, was established.
    private var hasConnected = false

    init(_ order: TransferOrder, on easy: EasyHandle, pool: ConnectionPool) throws(HTTPError) {
        self.order = order
        self.easy = easy
        self.pool = pool
        // A method that usually has content states a length of 0 when it has none (RFC 9110 section 8.6).
        let hasContent = order.feed == nil && ["POST", "PUT", "PATCH"].contains(order.method)
        let body = order.body ?? (hasContent ? [] : nil)
        upload = body.map(UploadBuffer.init)
        try setRequest()
        try setConnection()
        try setTLS()
        try setCallbacks()
    }

    deinit { close() }

    /// Resets the easy handle, so that nothing in it points here. It must have been removed from the multi handle.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        order.feed?.end()
        easy.reset()
        easy.curl.calls.slist_free_all(headerList)
    }

    /// Reports the end of the transfer to the order's sink. Called once.
    func end(_ status: CURLcode) {
        order.sink.end(failure ?? (status == CURLE_OK ? nil : diagnosis(of: status).error))
    }

    private func diagnosis(of status: CURLcode) -> Diagnosis {
        Diagnosis(
            status: status, text: easy.failureText(status), generalText: easy.curl.text(of: status),
            target: order.target,
            unixSocket: order.unixSocket, hasConnected: hasConnected, hasBegunTLS: tls != nil,
            systemError: Int32(easy.number(CURLINFO_OS_ERRNO)), refusal: tls?.lastRefusal,
            signingFailure: tls?.lastSigningFailure, alert: alert,
            proxyStatus: easy.number(CURLINFO_HTTP_CONNECTCODE),
            proxy: isDirect || !order.target.isProtected ? nil : ForwardProxy.forHTTPS(to: order.target.host))
    }
}

// MARK: - Options

extension Transfer {
    private func setRequest() throws(HTTPError) {
        try easy.set(CURLOPT_URL, order.target.url)
        try easy.set(CURLOPT_PROTOCOLS_STR, order.target.isProtected ? "https" : "http")
        if let upload {
            try easy.set(CURLOPT_POST, true)
            try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: upload.count)
            try easy.set(CURLOPT_POSTFIELDS, pointer: upload.start)
        } else if let feed = order.feed {
            try easy.set(CURLOPT_POST, true)
            try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: feed.length ?? -1)
            // HTTP/2 has no need of it, and libcurl leaves it out there.
            if feed.length == nil { try addHeader("Transfer-Encoding: chunked") }
            // What was sent cannot be sent again, so it must not go to a connection that may be dead.
            try easy.set(CURLOPT_FRESH_CONNECT, true)
            try easy.set(
                CURLOPT_READFUNCTION,
                receiver: { buffer, size, count, transfer in
                    Transfer.from(transfer!).read(
                        into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
                })
            try easy.set(CURLOPT_READDATA, pointer: reference)
        } else if order.method == "HEAD" {
            try easy.set(CURLOPT_NOBODY, true)
        }
        // Decodes whatever libcurl can; the field in the request is left out.
        if order.decodesBody { try easy.set(CURLOPT_ACCEPT_ENCODING, "gzip") }
        try easy.set(CURLOPT_CUSTOMREQUEST, order.method)
        for line in order.headerLines { try addHeader(line) }
        try easy.set(CURLOPT_HTTPHEADER, pointer: headerList)
        try easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        try easy.set(CURLOPT_FOLLOWLOCATION, false)
    }

    private func addHeader(_ line: String) throws(HTTPError) {
        guard let list = easy.curl.calls.slist_append(headerList, line) else {
            throw .library(operation: "keep a header", reason: "no memory")
        }
        headerList = list
    }

    private func setConnection() throws(HTTPError) {
        // libcurl must not touch the process's signals; SIGPIPE is blocked on the transfer thread.
        try easy.set(CURLOPT_NOSIGNAL, true)
        try easy.set(CURLOPT_NOPROGRESS, true)
        try easy.set(CURLOPT_SHARE, pointer: pool.share)
        // A connection is only kept once it has answered: on failure it is closed at once, not when a later request
        // finds it dead.
        try easy.set(CURLOPT_FORBID_REUSE, true)
        try easy.set(CURLOPT_TCP_KEEPALIVE, true)
        // A new connection resolves the name again: the resolver has its own caches, which know how long entries are
        // valid.
        try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds: order.handshakeTimeout)
        if let total = order.totalTimeout { try easy.set(CURLOPT_TIMEOUT_MS, milliseconds: total) }
        if let silence = order.silenceLimit {
            try easy.set(CURLOPT_LOW_SPEED_LIMIT, 1)
            try easy.set(CURLOPT_LOW_SPEED_TIME, Int(max(1, silence.components.seconds)))
        }
        if let path = order.unixSocket { try easy.set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if isDirect { try easy.set(CURLOPT_NOPROXY, "*") }
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    }

    /// Whether no proxy of the environment is used.
    private var isDirect: Bool { order.unixSocket != nil || order.target.isLoopback }

    private func setTLS() throws(HTTPError) {
        guard order.target.isProtected else { return }
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The hook puts trust, host and identity into the SSL_CTX; libcurl then asks OpenSSL for the verdict again.
        // Its own host check stays off, because the trust names the host to check, or says that none is checked.
        try easy.set(CURLOPT_SSL_VERIFYPEER, true)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        try easy.set(CURLOPT_CAINFO, pointer: nil)
        try easy.set(CURLOPT_CAPATH, pointer: nil)
        // Otherwise libcurl would reuse the certificate store of one SSL_CTX, with the anchors added to it, for the
        // next.
        try easy.set(CURLOPT_CA_CACHE_TIMEOUT, 0)
        // A resumed session presents no certificate, so the pins of this request would check nothing.
        try easy.set(CURLOPT_SSL_SESSIONID_CACHE, false)
        let status = latchkey_curl_set_tls_hook(easy.curl.table, easy.handle) { _, sslContext, transfer in
            Transfer.from(transfer!).configure(sslContext!)
        }
        try easy.check(CURLOPT_SSL_CTX_FUNCTION, status)
        try easy.set(CURLOPT_SSL_CTX_DATA, pointer: reference)
        try setTrace()
    }

    /// Reads alerts from libcurl's trace, the only place where they always appear.
    ///
    /// In TLS 1.3 a server checks the client's certificate while the client is already sending, so libcurl may find
    /// the connection closed before it has read the alert. It reads the alert when it closes its own end.
    private func setTrace() throws(HTTPError) {
        try easy.set(CURLOPT_VERBOSE, true)
        let status = latchkey_curl_set_trace(easy.curl.table, easy.handle) { _, kind, bytes, count, transfer in
            guard kind == CURLINFO_SSL_DATA_IN else { return 0 }
            let message = UnsafeRawBufferPointer(start: bytes, count: count)
            if let alert = TLSAlert(message: message) { Transfer.from(transfer!).alert = alert }
            return 0
        }
        try easy.check(CURLOPT_DEBUGFUNCTION, status)
        try easy.set(CURLOPT_DEBUGDATA, pointer: reference)
    }

    private func setCallbacks() throws(HTTPError) {
        try easy.setErrorText()
        try easy.set(CURLOPT_PRIVATE, pointer: reference)
        try easy.set(
            CURLOPT_HEADERFUNCTION,
            receiver: { bytes, size, count, transfer in
                Transfer.from(transfer!).receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        try easy.set(CURLOPT_HEADERDATA, pointer: reference)
        try easy.set(
            CURLOPT_WRITEFUNCTION,
            receiver: { bytes, size, count, transfer in
                Transfer.from(transfer!).receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        try easy.set(CURLOPT_WRITEDATA, pointer: reference)
        let status = latchkey_curl_set_connected_hook(easy.curl.table, easy.handle) { transfer, _, _, _, _ in
            Transfer.from(transfer!).hasConnected = true
            return Int32(CURL_PREREQFUNC_OK)
        }
        try easy.check(CURLOPT_PREREQFUNCTION, status)
        try easy.set(CURLOPT_PREREQDATA, pointer: reference)
    }

    /// Unretained: the engine retains the transfer for as long as libcurl may call back.
    private var reference: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ reference: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(reference).takeUnretainedValue()
    }
}

// MARK: - Callbacks of libcurl

extension Transfer {
    /// Called before each handshake, with libcurl's own `SSL_CTX` for it.
    private func configure(_ sslContext: UnsafeMutableRawPointer) -> CURLcode {
        guard let trust = order.trust else { return CURLE_ABORTED_BY_CALLBACK }
        do {
            let context = try TLSContext(trust: trust, identity: order.identity)
            try context.configure(sslContext)
            (tls, alert, hasConnected) = (context, nil, false)
            return CURLE_OK
        } catch {
            failure = .handshakeFailed(host: order.target.host, reason: "\(error)")
            return CURLE_ABORTED_BY_CALLBACK
        }
    }

    /// - Returns: the count received, or 0 to end the transfer.
    private func receive(line: UnsafeRawBufferPointer) -> Int {
        switch head.receive(line) {
        case .incomplete: return line.count
        case .complete:
            keepConnection()
            order.sink.receive(head: head)
            return line.count
        case .tooLarge: failure = .responseHeadTooLarge(url: order.target.location)
        case .malformed: failure = .malformedResponse(url: order.target.location)
        }
        return 0
    }

    private func keepConnection() {
        do throws(HTTPError) { try easy.set(CURLOPT_FORBID_REUSE, false) } catch { failure = error }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        order.feed?.read(into: buffer) ?? Int(CURL_READFUNC_PAUSE)
    }

    private func receive(body piece: UnsafeRawBufferPointer) -> Int {
        // libcurl takes any count other than the offered one for a failure, and may offer an empty piece.
        guard !piece.isEmpty else { return 0 }
        switch order.sink.receive(body: piece) {
        case .taken: return piece.count
        case .pause: return Int(CURL_WRITEFUNC_PAUSE)
        case .tooLarge(let limit):
            failure = .responseTooLarge(url: order.target.location, limit: limit)
            return 0
        }
    }
}
