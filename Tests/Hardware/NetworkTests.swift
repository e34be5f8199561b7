import Groundwork
import TestSupport
import Testing

/// What only a kernel with netem can do to packets; `Tests/Faults` does the rest to connections.
@Suite(
    "The agent behind a bad cable",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct NetworkTests {
    @Test("a network that loses 30 % of its packets costs no reading, and no more than a few attempts")
    func lossy() async throws {
        let log = try await VirtualBoard.log(of: "network", definition: "simulated")
        #expect(
            log.lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == "publish" }
                .allSatisfy { $0["value"]?.integer == 0 })

        // What arrived at the broker, the newest first.
        let lab = log.during("mended").last { $0["event"]?.string == "lab" }?["state"]
        var seen: Set<Int> = []
        let numbers = (lab?["messages"]?.array ?? []).reversed()
            .filter { $0["topic"]?.string?.hasSuffix("/custom/counter") == true }
            .compactMap { $0["payload"]?.string.flatMap { Int($0) } }.filter { seen.insert($0).inserted }
        #expect(numbers.sorted() == Array(1...80))
        let reordered = zip(numbers, numbers.dropFirst()).filter { $0 > $1 }.count
        #expect(lab?["devices"]?.array?.count == 1)

        #expect(events("gateway.device-did-register", in: log).count == 1)
        #expect(events("gateway.registration-did-drop", in: log) == [])
        let attempts = events("broker.connecting", in: log).count
        let (processor, seconds) = (try spent("processor", in: log), try spent(("began", "ended"), in: log))
        print(
            "30 % loss, 500 ms: \(seconds) s, \(attempts) attempts, \(reordered) reordered, \(processor) ms of the processor"
        )
        #expect(attempts <= 3 + Int(seconds) / 20)
        // No bound on the processor: the guest also counts what this machine's other work takes from the emulation.
    }

    private func events(_ name: String, in log: VirtualBoard.Log) -> [JSON] {
        log.lines.filter { $0["event"]?.string == name }
    }

    private func observed(_ name: String, in log: VirtualBoard.Log) -> [Int64] {
        log.lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == name }.compactMap {
            $0["value"]?.integer
        }
    }

    /// In milliseconds, between the two times it was looked at.
    private func spent(_ name: String, in log: VirtualBoard.Log) throws -> Int64 {
        let values = observed(name, in: log)
        return try (#require(values.last) - #require(values.first)) * 10
    }

    private func spent(_ names: (String, String), in log: VirtualBoard.Log) throws -> Int64 {
        try #require(observed(names.1, in: log).first) - #require(observed(names.0, in: log).first)
    }
}
