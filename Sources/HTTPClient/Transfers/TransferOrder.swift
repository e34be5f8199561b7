import Cryptography
import Synchronization

/// A validated request on its way to the transfer thread.
final class TransferOrder: Sendable {
    let target: RequestDestination
    let method: String
    /// Header lines in libcurl's form.
    let headerLines: [String]
    let body: [UInt8]?
    /// The body instead, in pieces.
    let feed: BodyFeed?
    let trust: ServerTrust?
    let identity: TLSIdentity?
    let unixSocket: String?
    let decodesBody: Bool
    /// `nil` means no limit.
    let totalTimeout: Duration?
    let handshakeTimeout: Duration
    /// `nil` means no limit.
    let silenceLimit: Duration?
    let pool: ConnectionPool.Key
    let sink: any TransferSink
    private let cancelled = Atomic(false)

    init(
        _ request: HTTPRequest, for owner: ConnectionOwner, totalTimeout: Duration?, sink: any TransferSink
    ) throws(HTTPError) {
        target = try RequestDestination(request.url)
        if target.isProtected {
            guard request.trust != nil else { throw .noTrust(host: target.host) }
        } else {
            guard request.unixSocket != nil || request.allowsPlainHTTP else {
                throw .plainHTTPRefused(host: target.host)
            }
        }
        if let path = request.unixSocket {
            // sun_path of unix(7) holds 108 bytes, the last of them zero.
            guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else {
                throw .malformedRequest(reason: "the socket's path is empty or longer than 107 bytes")
            }
        }
        method = try Self.checked(method: request.method)
        headerLines = try Self.lines(of: request.headers)
        body = request.body
        feed = request.feed
        trust = request.trust
        identity = request.identity
        unixSocket = request.unixSocket
        decodesBody = request.decodesBody
        self.totalTimeout = totalTimeout
        handshakeTimeout = request.handshakeTimeout
        silenceLimit = request.silenceLimit
        pool = ConnectionPool.Key(
            owner: owner, trust: target.isProtected ? request.trust : nil,
            identity: target.isProtected ? request.identity : nil)
        self.sink = sink
        feed?.begin(self)
    }

    /// Set before the cancellation is announced, so that an order that is canceled before it starts never starts.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    private static func checked(method: String) throws(HTTPError) -> String {
        guard HTTPHeaders.isToken(method) else {
            throw .malformedRequest(reason: "the method is not a token of letters and digits")
        }
        return method
    }

    /// Every line is exactly one field: no value can start a new one (RFC 9110 section 5.5).
    private static func lines(of headers: HTTPHeaders) throws(HTTPError) -> [String] {
        var lines: [String] = []
        for (index, field) in headers.fields.enumerated() {
            guard HTTPHeaders.isToken(field.name) else {
                throw .malformedRequest(reason: "the name of header \(index + 1) is not a token")
            }
            guard field.value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
                throw .malformedRequest(reason: "the value of header \(field.name) contains a control character")
            }
            // The length and coding of the body are stated by libcurl from the body itself.
            guard !field.isNamed("Content-Length"), !field.isNamed("Transfer-Encoding") else {
                throw .malformedRequest(reason: "header \(field.name) cannot be set by the caller")
            }
            let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            lines.append(isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // Fields that libcurl would add by itself; a line without a value prevents that.
        for name in ["Content-Type", "Accept", "Accept-Encoding", "Expect"] where headers.first(name) == nil {
            lines.append("\(name):")
        }
        return lines
    }
}
