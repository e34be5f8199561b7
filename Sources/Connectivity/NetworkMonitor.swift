import Dispatch
public import Groundwork
import Synchronization

/// Notices when links, addresses and routes change, as the kernel reports it. Nothing is polled: while nothing changes,
/// no thread wakes.
///
/// A report only says that something has changed; the present state is then read as a whole. So a lost report costs
/// nothing, and what the kernel does not report (routes of IPv4 that go with their link) is noticed with what it does.
public final class NetworkMonitor: Sendable {
    /// Whether this machine is in a network.
    public enum State: Sendable, Equatable {
        /// It cannot be told, and why; before the start without a reason.
        case unknown(NetworkError?)
        case none
        case way(NetworkWay)
    }

    private struct Guarded {
        var state = State.unknown(nil)
        var snapshot: NetworkSnapshot?
        // `nonisolated(unsafe)` is correct because this reference is read and set under the mutex alone, and a source
        // of libdispatch may be used from every thread: only its Swift type does not say so.
        nonisolated(unsafe) var source: (any DispatchSourceRead)?
    }

    private let guarded = Mutex(Guarded())
    /// Each change of the state, and of the addresses by which connections were made.
    public let changes = Broadcast<State>()
    private let returns = Broadcast<Void>()

    public init() {}

    deinit { guarded.withLock { $0.source?.cancel() } }

    public var state: State { guarded.withLock { $0.state } }

    /// Whether a connection from this address can still carry anything; also if that cannot be told.
    ///
    /// - Parameter address: 4 or 16 bytes.
    public func carries(_ address: [UInt8]) -> Bool { guarded.withLock { $0.snapshot?.carries(address) ?? true } }

    /// The link that has this address, 4 or 16 bytes.
    public func way(from address: [UInt8]) -> NetworkWay? {
        guarded.withLock { $0.snapshot?.link(with: address) }.map(NetworkWay.init)
    }

    /// What a connection that could not be made depends on: when it changes, trying again is worth it.
    public var outlook: NetworkOutlook? { guarded.withLock { $0.snapshot }?.outlook }

    /// Reads the state, and begins to follow it. Does nothing the second time.
    public func start() {
        guard guarded.withLock({ $0.source == nil }) else { return }
        do throws(NetworkError) {
            let reports = try NetlinkSocket(groups: NetlinkSocket.allChanges)
            let source = DispatchSource.makeReadSource(fileDescriptor: reports.descriptor, queue: .global())
            source.setEventHandler { [weak self] in
                reports.drain()
                self?.read()
            }
            // The socket is closed with the handler that holds it.
            source.setCancelHandler { withExtendedLifetime(reports) {} }
            // `nonisolated(unsafe)` is correct because others only cancel it, which libdispatch allows on every thread,
            // and its handlers are set.
            nonisolated(unsafe) let held = source
            guarded.withLock { $0.source = held }
            read()
            // Only now, so that one thread at a time reads. What was reported meanwhile is still there.
            source.activate()
        } catch {
            guarded.withLock { $0.state = .unknown(error) }
        }
    }

    private func read() {
        let found: (State, NetworkSnapshot?)
        do throws(NetworkError) {
            // One of its own: between the answers there would be reports.
            let snapshot = try NetlinkSocket().snapshot()
            found = (snapshot.wayOut.map { .way(NetworkWay($0)) } ?? .none, snapshot)
        } catch {
            found = (.unknown(error), nil)
        }
        guarded.withLock { guarded in
            guard guarded.state != found.0 || guarded.snapshot != found.1 else { return }
            (guarded.state, guarded.snapshot) = found
            changes.enqueue(found.0)
        }
        changes.deliver()
    }

    // MARK: Waiting

    /// Ends the pauses of all who wait for the network (``pause(for:)``).
    public func endPauses() { returns.send(()) }

    /// Suspends the caller for this time, or until the network is back.
    ///
    /// - Returns: whether the network is back.
    public func pause(for delay: Duration) async -> Bool {
        let returns = returns.subscribe(bound: 1)
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await Task.sleep(for: delay)
                return false
            }
            group.addTask {
                for await _ in returns { return true }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
