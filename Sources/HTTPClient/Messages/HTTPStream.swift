/// A response whose head has arrived and whose body is read in pieces, at the reader's pace.
///
///     let stream = try await client.open(request)
///     for try await piece in stream { … }
///
/// Pieces are as the network delivered them; when ``HTTPStream/bufferLimit`` bytes are unread, the server has to
/// wait. A piece goes to one reader only.
public final class HTTPStream: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = HTTPError

    /// The most bytes that wait for the reader.
    public static let bufferLimit = 262_144

    public let status: Int
    public let headers: HTTPHeaders
    private let queue: ChunkQueue
    private let order: TransferOrder

    init(head: ResponseHead, queue: ChunkQueue, order: TransferOrder) {
        status = head.status
        headers = head.headers
        self.queue = queue
        self.order = order
    }

    deinit { TransferEngine.cancel(order) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: HTTPStream

        /// - Returns: `nil` at the end of the body.
        /// - Throws: ``HTTPError/cancelled`` in a canceled task, otherwise why the body is incomplete.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(HTTPError)
            -> [UInt8]?
        {
            try await stream.queue.next(of: stream.order)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
