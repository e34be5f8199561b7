import Glibc
public import Groundwork
import HTTPClient

/// A client of the daemon, for `latchkey` and programs in Swift.
public struct LocalClient: Sendable {
    /// Where the daemon listens unless its settings say otherwise.
    public static let standardSocketPath = "/run/latchkey/api.sock"

    private let socketPath: String
    private let client = HTTPClient()

    public init(socketPath: String) { self.socketPath = socketPath }

    /// - Throws: ``LocalAPIError``
    public func get(_ path: String, timeout: Duration = .seconds(30)) async throws(LocalAPIError) -> JSON {
        try await answer(to: request("GET", path, nil, timeout))
    }

    /// The text of an answer that is offered in other forms than JSON.
    ///
    /// - Parameter type: the media type that is asked for.
    /// - Throws: ``LocalAPIError``
    public func text(
        _ path: String, as type: String, timeout: Duration = .seconds(30)
    ) async throws(LocalAPIError) -> [UInt8] {
        var request = request("GET", path, nil, timeout)
        request.headers.set("Accept", type)
        return try await body(of: request)
    }

    /// - Throws: ``LocalAPIError``
    public func post(_ path: String, _ body: JSON, timeout: Duration = .seconds(30)) async throws(LocalAPIError) -> JSON
    {
        try await answer(to: request("POST", path, body, timeout))
    }

    /// Posts plain text instead of JSON.
    ///
    /// - Throws: ``LocalAPIError``
    public func post(_ path: String, text: [UInt8], timeout: Duration = .seconds(30)) async throws(LocalAPIError)
        -> JSON
    {
        var request = request("POST", path, nil, timeout)
        request.body = text
        request.headers.set("Content-Type", "text/plain")
        return try await answer(to: request)
    }

    /// - Throws: ``LocalAPIError``
    public func delete(_ path: String, timeout: Duration = .seconds(30)) async throws(LocalAPIError) -> JSON {
        try await answer(to: request("DELETE", path, nil, timeout))
    }

    /// The events of a stream, until it ends or the reader stops.
    ///
    /// - Parameter body: if present, it is posted to start an action whose events are read; otherwise the stream is
    ///   requested with GET.
    public func events(_ path: String, posting body: JSON? = nil) -> LocalEvents {
        LocalEvents(client: self, path: path, body: body)
    }

    /// The records of a stream, for a reader of many messages, who need not parse them.
    ///
    /// - Parameters:
    ///   - body: if present, it is posted to start an action whose records are read.
    ///   - form: NDJSON, or frames where the route has them.
    public func records(_ path: String, posting body: JSON? = nil, as form: StreamForm) -> LocalRecords {
        LocalRecords(self, path, posting: body, as: form)
    }

    /// The records of a stream that the calling thread itself reads and waits for, which costs the least for each: for
    /// a program that does nothing else meanwhile. Canceling its task does not end it.
    public func ownRecords(_ path: String, as form: StreamForm) -> LocalRecords {
        LocalRecords(self, path, as: form, isDirect: true)
    }

    private func answer(to request: HTTPRequest) async throws(LocalAPIError) -> JSON {
        let body = try await body(of: request)
        do {
            return try JSON(parsing: body, limit: HTTPRequest.defaultResponseLimit)
        } catch {
            throw .noAnswer(reason: error.message)
        }
    }

    /// The body of a success.
    private func body(of request: HTTPRequest) async throws(LocalAPIError) -> [UInt8] {
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch {
            throw explained(error)
        }
        guard response.isSuccess else { throw remote(response.status, response.body) }
        return response.body
    }

    /// Opens an event stream.
    func open(_ path: String, _ body: JSON?, _ form: StreamForm) async throws(LocalAPIError) -> HTTPStream {
        var request = request(body == nil ? "GET" : "POST", path, body, nil)
        request.headers.set("Accept", form.mediaType)
        let stream: HTTPStream
        var answer: [UInt8] = []
        do {
            stream = try await client.open(request)
            guard stream.status != 200 else { return stream }
            for try await piece in stream where answer.count <= Self.errorLimit { answer += piece }
        } catch {
            throw explained(error)
        }
        throw remote(stream.status, answer)
    }

    /// Opens a stream that is read by the calling thread.
    func openDirectly(_ path: String, _ form: StreamForm) throws(LocalAPIError) -> DirectStream {
        let stream: DirectStream
        var answer: [UInt8] = []
        do {
            stream = try DirectStream(path, as: form, socketPath: socketPath)
            guard stream.status != 200 else { return stream }
        } catch {
            throw explained(error)
        }
        // The connection may be reset behind the answer.
        while answer.count <= Self.errorLimit, let piece = try? stream.next() { answer += piece }
        throw remote(stream.status, answer)
    }

    /// The most bytes of an error answer that are read.
    private static let errorLimit = 64 << 10

    /// - Parameter timeout: `nil` for a stream, which has none.
    private func request(_ method: String, _ path: String, _ body: JSON?, _ timeout: Duration?) -> HTTPRequest {
        var request = HTTPRequest(method, "http://localhost\(path)", body: body?.bytes)
        if let timeout { request.timeout = timeout }
        if body != nil { request.headers.set("Content-Type", "application/json") }
        request.unixSocket = socketPath
        return request
    }

    func explained(_ error: HTTPError) -> LocalAPIError {
        switch error {
        case .cannotConnectToSocket(let path, _):
            access(path, W_OK) != 0 && errno == EACCES ? .socketForbidden(path: path) : .daemonNotRunning(path: path)
        case .cancelled: .cancelled
        case .connectionLost: .daemonEnded
        default: .noAnswer(reason: error.message)
        }
    }

    private func remote(_ status: Int, _ body: [UInt8]) -> LocalAPIError {
        LocalAPIError(status: status, answer: (try? JSON(parsing: body)) ?? .null)
    }
}

extension LocalAPIError {
    /// The error in an answer of the daemon.
    ///
    /// - Parameter answer: an error of the local API, or anything else.
    init(status: Int, answer: JSON) {
        self = .remote(status: status, Explanation(answer: answer) ?? Self.remoteWithoutError(status: status))
    }
}
