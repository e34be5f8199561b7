import Synchronization

/// Counts from several tasks.
package final class Counter: Sendable {
    private let value = Atomic(0)

    package init() {}

    package var count: Int { value.load(ordering: .relaxed) }

    /// - Returns: 1 the first time.
    @discardableResult
    package func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
