import Cryptography

/// A request as a caller states it. Redirects are never followed and cookies never kept.
public struct HTTPRequest: Sendable {
    /// The most bytes a response body may have unless the request says otherwise (MAG 0.3).
    public static let defaultResponseLimit = 10_485_760

    public var method: String
    /// Absolute, `https:` or, where ``unixSocket`` or ``allowsPlainHTTP`` says so, `http:`; ASCII, without user info.
    public var url: String
    public var headers: HTTPHeaders
    public var body: [UInt8]?
    /// From the start to the last byte of the response. ``HTTPClient/open(_:)`` has no such limit.
    public var timeout: Duration = .seconds(60)
    /// From the start until the connection and its TLS session stand.
    public var handshakeTimeout: Duration = .seconds(60)
    /// What the server must prove. An `https:` request without it is refused.
    public var trust: ServerTrust?
    /// The client certificate to offer where the server asks for one.
    public var identity: TLSIdentity?
    /// The path of a Unix socket to connect to in place of the URL's host.
    public var unixSocket: String?
    /// Lets an `http:` URL pass without a Unix socket: the request and its answer are readable on the way.
    public var allowsPlainHTTP = false
    /// The most bytes the response body may have; one more ends the transfer.
    public var responseLimit = HTTPRequest.defaultResponseLimit

    public init(
        _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil, trust: ServerTrust? = nil,
        identity: TLSIdentity? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.trust = trust
        self.identity = identity
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL without its query; never headers or body, so that a log line cannot leak them.
    public var description: String { "\(method) \((try? RequestTarget(url))?.location ?? "(malformed URL)")" }
}
