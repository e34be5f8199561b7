import Board
import FoundationEssentials
import Groundwork
import Storage
import Synchronization

/// Counts the bytes that go out and come in this month, by the interfaces that lead out, and keeps the count on the
/// disk.
///
/// It looks when it is asked. The file is written when it is told to: a power cut costs what was counted since.
package final class TrafficMeter: Sendable {
    /// How often the count is written.
    package static let interval = Duration.seconds(3600)
    /// Largest file accepted, in bytes: 64 interfaces with long names have 10 KiB.
    private static let limit = 65_536

    private struct State {
        var count = TrafficCount()
        var interfaces: [String] = []
        /// What the file contains.
        var written: [UInt8] = []
    }

    private let path: String?
    private let machine: Machine
    private let time: BestKnownTime
    private let state: Mutex<State>

    /// - Parameter path: of the file; `nil` to keep the count in memory. A damaged file is set aside, and counting
    ///   starts anew.
    package init(path: String?, machine: Machine, time: BestKnownTime) {
        (self.path, self.machine, self.time) = (path, machine, time)
        var kept = State()
        if let path, let bytes = try? BoundedFile.read(path, limit: Self.limit, .regularWithoutLink) {
            if let count = TrafficCount(parsing: bytes) {
                (kept.count, kept.written) = (count, bytes)
            } else {
                _ = try? PlainFile.setAside(path)
            }
        }
        state = Mutex(kept)
    }

    /// The interfaces that are counted: those that lead out.
    package var interfaces: [String] { state.withLock { $0.interfaces } }

    /// Counts other interfaces from now on.
    package func lead(by interfaces: [String]) {
        state.withLock { state in
            look(&state)
            state.interfaces = interfaces
            look(&state)
        }
    }

    /// The count until now; `nil` before the first network, and while the clock has never been right.
    package func measure() -> MonthlyTraffic? {
        state.withLock { state in
            look(&state)
            return state.count.monthly
        }
    }

    private func look(_ state: inout State) {
        guard !state.interfaces.isEmpty, let counters = InterfaceCounters(of: machine) else { return }
        state.count.take(counters, of: state.interfaces, in: time.isPlausible ? CalendarMonth(of: time.now) : nil)
    }

    /// Replaces the file as a whole, if anything was counted. What cannot be written now is written the next time.
    package func save() {
        let bytes: [UInt8]? = state.withLock { state in
            look(&state)
            let bytes = state.count.bytes
            return state.interfaces.isEmpty || bytes == state.written ? nil : bytes
        }
        guard let path, let bytes else { return }
        do throws(StorageError) {
            let draft = "\(path).new"
            let file = try PlainFile(draft, creating: true, of: path)
            try file.write(bytes, at: 0)
            try file.sync()
            try PlainFile.rename(draft, to: path, of: path)
            try PlainFile.syncNames(beside: path)
            state.withLock { $0.written = bytes }
        } catch {
            // The health check of the disk says what is wrong with it.
        }
    }
}
