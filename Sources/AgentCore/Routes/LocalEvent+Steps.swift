import Groundwork
import LocalAPI

extension LocalEvent {
    /// The events of work whose steps a program watches. It lasts for as long as they are read; its value is the last
    /// one.
    package static func steps(
        _ name: String, _ work: @escaping @Sendable (@escaping @Sendable (LocalEvent) -> Void) async throws -> JSON
    ) -> AsyncThrowingStream<LocalEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let task = Task {
                do {
                    continuation.yield(LocalEvent(name: name, data: try await work { continuation.yield($0) }))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
