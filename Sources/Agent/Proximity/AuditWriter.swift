import Groundwork
import Proximity
import Synchronization

/// Passes records to the ``AuditLog`` one by one, in the order of their answers, without blocking the caller.
///
/// One writer: a task for each record would write them in any order, and lose the last ones when the agent stops.
final class AuditWriter: Sendable {
    /// With this many records waiting for a slow disk, refusals are dropped. Grants are always accepted: each took a
    /// person's consent.
    static let bound = 1024

    private let record: AsyncStream<AuditRecord>.Continuation
    private let writing: Task<Void, Never>
    private let waiting: Waiting
    private let directory: String
    private let onFailure: @Sendable (AgentError) -> Void

    private final class Waiting: Sendable {
        let count = Mutex(0)
    }

    /// - Parameter onFailure: called when a record could not be kept.
    init(_ log: AuditLog, directory: String, onFailure: @escaping @Sendable (AgentError) -> Void) {
        let (records, record) = AsyncStream.makeStream(of: AuditRecord.self)
        let waiting = Waiting()
        (self.record, self.waiting, self.directory, self.onFailure) = (record, waiting, directory, onFailure)
        writing = Task {
            for await record in records {
                do throws(AgentError) { try await log.append(record) } catch { onFailure(error) }
                waiting.count.withLock { $0 -= 1 }
            }
        }
    }

    /// Takes a record. Does not block.
    func take(_ entry: AuditRecord) {
        let hasRoom = waiting.count.withLock { count in
            guard count < Self.bound || entry.outcome != .refused else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            return onFailure(.stateDirectory(path: directory, reason: "too many records wait to be written"))
        }
        record.yield(entry)
    }

    /// Returns when all accepted records are written; none are accepted afterwards.
    func end() async {
        record.finish()
        await writing.value
    }
}
