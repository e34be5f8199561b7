/// Where the handler of a stream writes its events, in the form that the client accepts.
public struct StreamWriter: Sendable {
    /// Runs what adds events, or returns `false` when there are to be none any more.
    public typealias Passage = @Sendable (() -> Bool) -> Bool

    public let form: StreamForm
    private let put: @Sendable ([UInt8], @escaping Passage) async -> Bool
    private let add: @Sendable (() -> [UInt8]) -> Bool

    /// - Parameters:
    ///   - put: waits for room.
    ///   - add: adds what it is given the means to make, if there is room now.
    init(
        _ form: StreamForm, put: @escaping @Sendable ([UInt8], @escaping Passage) async -> Bool,
        add: @escaping @Sendable (() -> [UInt8]) -> Bool = { _ in false }
    ) {
        self.form = form
        self.put = put
        self.add = add
    }

    /// Writes whole events, which are in ``form``, if the reader is not behind. Does not suspend, so that a caller that
    /// has something new can write it on any thread; never beside a ``send(_:)-([UInt8])`` that waits.
    ///
    /// - Parameter make: called if they are to be written.
    /// - Returns: `false` when the reader is behind or gone.
    public func offer(_ make: () -> [UInt8]) -> Bool { add(make) }

    /// Writes whole events, which are in ``form``. Waits while the reader is behind.
    ///
    /// - Parameter passage: called once there is room, and has the last word.
    /// - Returns: `false` when the reader is gone, or the passage closed.
    public func send(_ events: [UInt8], through passage: @escaping Passage = { $0() }) async -> Bool {
        await put(events, passage)
    }

    /// Writes an event. Waits while the reader is behind.
    ///
    /// - Returns: `false` when the reader is gone.
    public func send(_ event: LocalEvent) async -> Bool { await send(form.bytes(of: event)) }
}
