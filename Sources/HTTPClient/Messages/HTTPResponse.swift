/// A response with its whole body, within the request's limit.
public struct HTTPResponse: Sendable, Equatable {
    public var status: Int
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether the status is 200 to 299 (RFC 9110 section 15.3).
    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension HTTPResponse: CustomStringConvertible {
    /// Status and size; never headers or body, so that a log line cannot leak them.
    public var description: String { "\(status), \(body.count) bytes" }
}
