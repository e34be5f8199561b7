import CCurl
import Groundwork
import Synchronization

/// Sends HTTP requests over libcurl, with the trust and identity of each request.
///
/// All clients of a process share one thread, `http`, which starts with the first request and sleeps while nothing is
/// in progress. Connections are kept and reused, but only among requests of one client whose trust and identity are
/// equal: a connection never carries a request whose pins it was not checked against.
public final class HTTPClient: Sendable {
    /// Version of the running libcurl, which is loaded for it. If it is unusable, the reason.
    public static var libraryVersion: String {
        do throws(HTTPError) {
            return String(cString: latchkey_curl_version(try Curl.library().table))
        } catch {
            return error.message
        }
    }

    /// Why libcurl cannot be used; `nil` if it can.
    public static var libraryFault: String? {
        do throws(HTTPError) {
            _ = try Curl.library()
            return nil
        } catch {
            return error.message
        }
    }

    private let connections = ConnectionOwner()
    /// Whether there can be connections, so that the thread is not started just to forget none.
    private let hasSent = Atomic(false)

    public init() {}

    deinit { forgetConnections() }

    /// Sends a request and collects its response.
    ///
    /// Canceling the task ends the transfer at once with ``HTTPError/cancelled``.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let collector = ResponseCollector(limit: request.responseLimit)
        let order = try TransferOrder(request, for: connections, totalTimeout: request.timeout, sink: collector)
        hasSent.store(true, ordering: .relaxed)
        let response = await withTaskCancellationHandler {
            TransferEngine.start(order)
            return await collector.response()
        } onCancel: {
            TransferEngine.cancel(order)
        }
        return try response.get()
    }

    /// Sends a request and returns as soon as the head of its response is there; the body follows in chunks.
    ///
    /// For streams of events that stay open, and for bodies of any size: the total length is not limited, and the total
    /// time only if the request says so; the unread bytes are. Canceling the task, or releasing the stream, ends the
    /// transfer.
    public func open(_ request: HTTPRequest) async throws(HTTPError) -> HTTPStream {
        let queue = ChunkQueue()
        let order = try TransferOrder(request, for: connections, totalTimeout: request.streamTimeout, sink: queue)
        hasSent.store(true, ordering: .relaxed)
        let head = await withTaskCancellationHandler {
            TransferEngine.start(order)
            return await queue.head()
        } onCancel: {
            TransferEngine.cancel(order)
        }
        return HTTPStream(head: try head.get(), queue: queue, order: order)
    }

    /// Closes the connections that are idle, and those in use once their requests are done; later requests open new
    /// ones. For when an identity or a trust ends.
    public func forgetConnections() {
        guard hasSent.load(ordering: .relaxed) else { return }
        TransferEngine.forget(connections)
    }
}
