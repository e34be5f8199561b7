public import HTTPClient

/// Where the answer to a request of a ``Relay`` is written.
public struct RelayWriter: Sendable {
    private let exchange: RelayExchange

    init(_ exchange: RelayExchange) { self.exchange = exchange }

    /// Begins the answer. Called once.
    ///
    /// - Parameters:
    ///   - headers: without those that concern one connection only.
    ///   - length: of the body, in bytes; `nil` if it is not known.
    public func begin(_ status: Int, _ headers: HTTPHeaders, length: Int?) {
        exchange.begin(status, headers, length: length)
    }

    /// Writes a piece of the body. Waits while the program is behind.
    ///
    /// - Returns: `false` when the program is gone.
    public func send(_ piece: [UInt8]) async -> Bool { await exchange.send(piece) }
}
