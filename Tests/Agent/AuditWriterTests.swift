import Dispatch
import Foundation
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Agent
@testable import Proximity

@Suite("The record of consent beside its writer", .timeLimit(.minutes(8)))
struct AuditWriterTests {
    private func record(_ id: Int, granted: Bool = false) -> AuditRecord {
        let request = ConsentRequest(
            id: id, requester: Requester(name: "Pixel", address: nil, way: .ble), date: Date(timeIntervalSince1970: 0))
        return AuditRecord(
            date: Date(timeIntervalSince1970: 0), request: request,
            decision: granted ? .granted(by: .button) : .timedOut,
            outcome: granted ? .authorized : .refused)
    }

    private func ids(in folder: String) async -> [Int] {
        await AuditLog(directory: folder).newest(10_000).compactMap { $0["id"]?.integer.map(Int.init) }
    }

    @Test("every consent is recorded in the order of its answer, even those that wait when the agent ends")
    func order() async throws {
        try await withFolder { folder in
            let failures = Log<AgentError>()
            let writer = AuditWriter(AuditLog(directory: folder), directory: folder) { failures.append($0) }
            let storage = await StorageHold()
            for id in 1...200 { writer.take(record(id, granted: id.isMultiple(of: 7))) }
            storage.letGo()
            await writer.end()
            #expect(await ids(in: folder) == Array(1...200))
            #expect(failures.entries == [])
        }
    }

    @Test("a slow disk costs the record of consent its newest refusals, never who was let in")
    func bound() async throws {
        try await withFolder { folder in
            let failures = Log<AgentError>()
            let writer = AuditWriter(AuditLog(directory: folder), directory: folder) { failures.append($0) }
            let storage = await StorageHold()
            for id in 1...1100 { writer.take(record(id)) }
            writer.take(record(1101, granted: true))
            storage.letGo()
            await writer.end()
            #expect(await ids(in: folder) == Array(1...1024) + [1101])
            #expect(failures.entries.count == 76)
            #expect(failures.entries.allSatisfy { $0.code == "agent.state-directory" })
        }
    }

    @Test("the agent reports consent that could not be recorded, in the status too")
    func reported() async throws {
        try await withAgent { agent, _ in
            let folder = agent.configuration.stateDirectory
            // A folder in the place of the file: whoever runs this, it cannot be written.
            try FileManager.default.createDirectory(
                atPath: folder + "/proximity-refusals.jsonl", withIntermediateDirectories: false)
            var told = agent.events.subscribe().makeAsyncIterator()
            let asking = Task { [desk = agent.nearby.desk] in
                await desk.ask(Requester(name: "Pixel", address: nil, way: .ble))
            }
            while await agent.nearby.desk.pending.isEmpty, !Task.isCancelled { await Task.yield() }
            asking.cancel()
            _ = await asking.value
            while let event = await told.next(), event.name != "proximity.audit-failed" {}
            #expect(agent.lastTrouble?.name == "proximity.audit-failed")
        }
    }
}

/// Keeps the thread of all databases busy, for as short as can be: others' tests use it too.
private final class StorageHold: Sendable {
    private actor Holder {
        nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

        func hold(until end: DispatchSemaphore, _ begun: CheckedContinuation<Void, Never>) {
            begun.resume()
            _ = end.wait(timeout: .now() + 30)
        }
    }
    private let end = DispatchSemaphore(value: 0)

    /// Returns when it is busy.
    init() async {
        let end = end
        await withCheckedContinuation { begun in Task { await Holder().hold(until: end, begun) } }
    }

    func letGo() { end.signal() }
}
