import Groundwork

/// A request and its answer, as libmicrohttpd's callbacks drive it.
protocol ServedExchange: AnyObject, Sendable {
    /// The console's session that it belongs to.
    var session: Int? { get }

    /// Called when the first line of the request has arrived.
    func begin()

    /// Called with the head, then with each piece of the body, then without a piece; and again when the connection is
    /// resumed.
    ///
    /// - Parameters:
    ///   - version: such as `HTTP/1.1`.
    ///   - body: a piece of the body; empty at the end.
    ///   - left: the length of the piece; set to how much of it was not taken, which is offered again.
    /// - Returns: `false` to close the connection.
    func handle(_ method: String, _ version: String, _ body: UnsafeRawBufferPointer, left: inout Int) -> Bool

    /// Called when the answer is written or the connection is gone.
    func complete()

    /// Called when the server stops: gives it its last answer.
    func stop()
}

/// An exchange, as libmicrohttpd holds it.
final class HeldExchange {
    let exchange: any ServedExchange

    init(_ exchange: any ServedExchange) { self.exchange = exchange }
}
