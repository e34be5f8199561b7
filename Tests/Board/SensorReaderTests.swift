import Foundation
import Synchronization
import Testing

@testable import Board

@Suite("Sensor reader", .timeLimit(.minutes(5)))
struct SensorReaderTests {
    private static let names = ["a", "b", "c", "d"]

    /// Drivers that hang until they are let go.
    private final class Drivers: Sendable {
        private let hanging = Mutex<[String: DispatchSemaphore]>([:])

        func hang(_ name: String) { hanging.withLock { $0[name] = DispatchSemaphore(value: 0) } }
        func letGo(_ name: String) { hanging.withLock { $0.removeValue(forKey: name) }?.signal() }

        func read(_ probe: inout SensorProbe) -> Result<SensorValue, BoardError> {
            hanging.withLock { [name = probe.definition.name] in $0[name] }?.wait()
            return .success(SensorValue(value: 1, quality: .good))
        }
    }

    private let drivers = Drivers()
    /// Far longer than a busy machine keeps a read waiting that nothing holds up.
    private let patience = Duration.seconds(6)

    private func reader(threads: Int) -> SensorReader {
        let definitions = Self.names.map { SensorDefinition(name: $0, source: .system(.load), unit: .count) }
        return SensorReader(
            definitions, on: Machine(), threads: SensorThreads(limit: threads), patience: patience,
            work: { [drivers] in drivers.read(&$0) })
    }

    /// Names of the sensors that stall.
    private func stalled(_ reader: SensorReader) async -> [String] {
        await reader.read([0, 1, 2, 3]).compactMap { result in
            if case .failure(.sensorStalled(let name, _)) = result { name } else { nil }
        }
    }

    @Test("the sensor reader goes on while a driver hangs, and reads its sensor again only once it returned")
    func hanging() async {
        let reader = reader(threads: 2)
        drivers.hang("b")
        #expect(await stalled(reader) == ["b"])
        #expect(await stalled(reader) == ["b"])
        drivers.letGo("b")
        while await !stalled(reader).isEmpty, !Task.isCancelled { await Task.yield() }
    }

    @Test("the sensor reader starts no more threads than its limit, and continues when one returns")
    func limit() async {
        let reader = reader(threads: 2)
        drivers.hang("a")
        drivers.hang("b")
        #expect(await stalled(reader) == ["a", "b", "c", "d"])
        drivers.letGo("a")
        while await stalled(reader) != ["b"], !Task.isCancelled { await Task.yield() }
        drivers.letGo("b")
    }

    @Test("the sensor reader reads what is due together without giving up the processor in between")
    func together() async throws {
        let names = (0..<20).map { "\($0)" }
        let definitions = names.map { SensorDefinition(name: $0, source: .system(.load), unit: .count) }
        let reader = SensorReader(
            definitions, on: Machine(), threads: SensorThreads(limit: 1),
            work: { _ in
                let status = (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                let count = line?.split(whereSeparator: \.isWhitespace).last.flatMap { Double($0) }
                return .success(SensorValue(value: count ?? -1, quality: .good))
            })
        // A turn for each would be twenty, each time; locks and memory that other tests hold add some now and then.
        var least = Double.infinity
        for _ in 0..<20 where least >= 5 {
            let counts = try await reader.read(Array(names.indices)).map { try $0.get().value }
            #expect(counts.count == 20)
            least = min(least, try #require(counts.last) - counts[0])
        }
        #expect(least < 5)
    }

    @Test("the sensor reader gives up reads behind a hung driver, and reads those sensors on another thread")
    func behind() async throws {
        let reader = reader(threads: 2)
        drivers.hang("c")
        let results = await reader.read([0, 1, 2, 3])
        #expect(results.count == 4)
        #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true])
        drivers.letGo("c")
    }

    @Test("a canceled sensor reader does not wait for a driver that hangs")
    func cancelled() async {
        let definitions = [SensorDefinition(name: "a", source: .system(.load), unit: .count)]
        drivers.hang("a")
        let reader = SensorReader(
            definitions, on: Machine(), threads: SensorThreads(limit: 1), patience: .seconds(3600),
            work: { [drivers] in drivers.read(&$0) })
        let task = Task { await reader.read([0]) }
        task.cancel()
        #expect(await task.value.count == 1)
        drivers.letGo("a")
    }

    @Test("the sensor reader does its work on a thread of its own")
    func thread() async throws {
        let definitions = [SensorDefinition(name: "a", source: .system(.load), unit: .count)]
        let reader = SensorReader(
            definitions, on: Machine(),
            work: { _ in
                let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                return .success(SensorValue(value: name == "sensors\n" ? 1 : 0, quality: .good))
            })
        #expect(try await reader.read([0])[0].get().value == 1)
    }
}
