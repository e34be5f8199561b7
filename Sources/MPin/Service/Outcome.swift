import Synchronization

/// What an operation brought, for its caller.
final class Outcome<Value: Sendable>: Sendable {
    private let kept = Mutex<Value?>(nil)

    /// `nil` until it is there.
    var value: Value? { kept.withLock { $0 } }

    func keep(_ value: Value) { kept.withLock { $0 = value } }
}
