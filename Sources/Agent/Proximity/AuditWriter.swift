import Groundwork
import Proximity
import Synchronization

/// Hands records to the ``AuditLog`` one by one, in the order of their answers, without keeping whoever has one waiting.
///
/// One writer: tasks of their own would put the records in any order, and lose the last ones when the agent stops.
final class AuditWriter: Sendable {
    /// The most records that may wait for a disk that does not keep up when a refusal comes. What was granted is always taken:
    /// each took somebody's consent.
    static let bound = 1024

    private let record: AsyncStream<AuditRecord>.Continuation
    private let writing: Task<Void, Never>
    private let waiting: Waiting
    private let directory: String
    private let onFailure: @Sendable (AgentError) -> Void

    private final class Waiting: Sendable {
        let count = Mutex(0)
    }

    /// - Parameter onFailure: told when a record could not be kept.
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

    /// Returns when all that was taken is written; nothing is taken afterwards.
    func end() async {
        record.finish()
        await writing.value
    }
}
