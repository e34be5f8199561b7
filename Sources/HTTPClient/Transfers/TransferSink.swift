/// Receives a response as it arrives. Called on the transfer thread only, in the order head, body pieces, end; the
/// end may come at any time and comes exactly once.
protocol TransferSink: Sendable {
    func receive(head: ResponseHead)
    func receive(body piece: UnsafeRawBufferPointer) -> BodyVerdict
    /// - Parameter error: `nil` when the response is complete.
    func end(_ error: HTTPError?)
}

/// The sink's verdict on a piece of a body.
enum BodyVerdict {
    case taken
    /// The piece was not taken; it is offered again after ``TransferEngine/resume(_:)``.
    case pause
    /// The piece is more than the caller allows; the transfer ends with ``HTTPError/responseTooLarge(url:limit:)``.
    case tooLarge(limit: Int)
}
