import Synchronization

/// Values by name that are opened when they are first asked for and then kept, such as accounts with what is stored of
/// them.
///
/// Opening one suspends, and meanwhile another caller may open or remove the same one. All callers get the same value
/// even then: two would overwrite each other's records. What is removed while it is being opened is not kept: it would
/// store again what was just erased.
public final class OpenedOnce<Value: Sendable>: Sendable {
    private struct State {
        var opened: [String: Value] = [:]
        /// The names of values that are being removed.
        var leaving: Set<String> = []
        /// How often a value was removed, or could not be.
        var removals = 0

        func entry(_ name: String) -> Entry {
            if leaving.contains(name) { return .leaving }
            return opened[name].map(Entry.opened) ?? .unopened(removals: removals)
        }

        /// - Parameter before: how many removals there were before the value was read.
        /// - Returns: the value that all callers get; `nil` if what was read may be gone by now.
        mutating func keep(_ value: Value, _ name: String, ifStill before: Int) -> Value? {
            if let first = opened[name] { return first }
            guard removals == before, !leaving.contains(name) else { return nil }
            opened[name] = value
            return value
        }
    }

    private enum Entry {
        case leaving
        case opened(Value)
        case unopened(removals: Int)
    }

    private let state = Mutex(State())

    public init() {}

    /// Those that are open now.
    public var all: [Value] { state.withLock { Array($0.opened.values) } }

    /// The value of this name, which is opened unless it is already.
    ///
    /// - Parameter open: makes the value from what is stored, or returns `nil` if nothing is. Callers may run it at the
    ///   same time, and it runs again if a value was removed meanwhile; of the values that it makes, one is kept.
    /// - Returns: `nil` for a name with nothing stored, and for one that is being removed.
    /// - Throws: what `open` throws; nothing is kept then.
    public func value(
        _ name: String, isolation: isolated (any Actor)? = #isolation, open: () async throws -> Value?
    ) async throws -> Value? {
        while true {
            switch state.withLock({ $0.entry(name) }) {
            case .leaving: return nil
            case .opened(let value): return value
            case .unopened(let removals):
                guard let value = try await open() else { return nil }
                if let kept = state.withLock({ $0.keep(value, name, ifStill: removals) }) { return kept }
            }
        }
    }

    /// Keeps a value that was just made, instead of one that would be read. There must be none of its name.
    public func keep(_ value: Value, _ name: String) { state.withLock { $0.opened[name] = value } }

    /// Removes a value. Until this returns, no caller gets one of its name.
    ///
    /// - Parameters:
    ///   - close: ends what the value does; not called if it was not open.
    ///   - erase: removes what is stored.
    /// - Throws: what `erase` throws; then what is still stored can be opened again.
    public func remove(
        _ name: String, isolation: isolated (any Actor)? = #isolation, closing close: (Value) async -> Void,
        erasing erase: () async throws -> Void
    ) async throws {
        let value = state.withLock { state in
            state.leaving.insert(name)
            return state.opened[name]
        }
        defer {
            state.withLock { state in
                state.leaving.remove(name)
                state.removals += 1
            }
        }
        if let value { await close(value) }
        state.withLock { $0.opened[name] = nil }
        try await erase()
    }
}
