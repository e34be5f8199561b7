public import Cryptography
public import FoundationEssentials

/// A request as the caller states it. Redirects are never followed and cookies never kept.
public struct HTTPRequest: Sendable {
    /// The most bytes a response body may have unless the request says otherwise (MAG 0.3).
    public static let defaultResponseLimit = 10_485_760

    public var method: String
    /// Absolute, `https:` or, if ``unixSocket`` or ``allowsPlainHTTP`` allows it, `http:`; ASCII, without user info.
    public var url: String
    public var headers: HTTPHeaders
    public var body: [UInt8]?
    /// The body instead, in pieces while it is sent.
    public var feed: BodyFeed?
    /// From the start to the last byte of the response; not for ``HTTPClient/open(_:)``.
    public var timeout: Duration = .seconds(60)
    /// The same for ``HTTPClient/open(_:)``; `nil` means no limit.
    public var streamTimeout: Duration?
    /// How long the server may be silent, once connected; `nil` means for as long as it takes. A reader that is behind
    /// does not count.
    public var silenceLimit: Duration?
    /// From the start until the connection and its TLS session are established.
    public var handshakeTimeout: Duration = .seconds(60)
    /// How the server is verified. An `https:` request without it is refused.
    public var trust: ServerTrust?
    /// The client certificate to present if the server asks for one.
    public var identity: TLSIdentity?
    /// The path of a Unix socket to connect to instead of the URL's host.
    public var unixSocket: String?
    /// Allows an `http:` URL without a Unix socket: the request and its answer can be read by others on the network.
    public var allowsPlainHTTP = false
    /// Whether a compressed body is decoded. Nothing is asked for compressed, but some proxies compress all the same.
    public var decodesBody = false
    /// The most bytes the response body may have, decoded if it is; one more ends the transfer.
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

    /// A request to a server of a configuration, protected as that says.
    public init(
        _ method: String, to address: WebAddress, by security: ServerSecurity, judgedAt: @escaping @Sendable () -> Date
    ) {
        self.init(method, address.text)
        if address.isProtected {
            trust = security.trust(of: address.host, judgedAt: judgedAt)
        } else {
            allowsPlainHTTP = security.allowsPlain
        }
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL without its query; never headers or body, so that a log line cannot leak them.
    public var description: String { "\(method) \((try? RequestDestination(url))?.location ?? "(malformed URL)")" }
}
