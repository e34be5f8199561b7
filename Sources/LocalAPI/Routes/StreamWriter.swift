/// Where the handler of a stream writes its events, in the form that the client accepts.
public struct StreamWriter: Sendable {
    public let form: StreamForm
    private let put: @Sendable ([UInt8]) async -> Bool

    init(_ form: StreamForm, put: @escaping @Sendable ([UInt8]) async -> Bool) {
        self.form = form
        self.put = put
    }

    /// Writes whole events, which are in ``form``. Waits while the reader is behind.
    ///
    /// - Returns: `false` when the reader is gone.
    public func send(_ events: [UInt8]) async -> Bool { await put(events) }

    /// Writes an event. Waits while the reader is behind.
    ///
    /// - Returns: `false` when the reader is gone.
    public func send(_ event: LocalEvent) async -> Bool { await put(form.bytes(of: event)) }
}
