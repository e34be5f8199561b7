import Testing

@testable import Board

@Suite("Sending policy")
struct SendingPolicyTests {
    private func policy(deadband: Double = 0, least: Duration = .zero, greatest: Duration = .seconds(900))
        -> SendingPolicy
    {
        SendingPolicy(
            SensorDefinition(
                name: "s", source: .system(.load), unit: .count, deadband: deadband, leastInterval: least,
                greatestInterval: greatest))
    }

    /// The times, in seconds, of the readings that are sent; one without a value is bad.
    private func sent(_ readings: KeyValuePairs<Int, Double?>, by policy: SendingPolicy) -> [Int] {
        var policy = policy
        return readings.compactMap { time, value in
            policy.shouldSend(value, value == nil ? .bad : .good, at: .seconds(time)) ? time : nil
        }
    }

    @Test("the sending policy sends the first reading, then values beyond the deadband around the last sent")
    func deadband() {
        #expect(sent([0: 20, 1: 20.4, 2: 19.6, 3: 20.5, 4: 20.9], by: policy(deadband: 0.5)) == [0, 3])
    }

    @Test("the sending policy without a deadband sends every change and nothing else")
    func noDeadband() {
        #expect(sent([0: 20, 1: 20, 2: 20.001], by: policy()) == [0, 2])
    }

    @Test("the sending policy waits for the least interval, even with a change of quality")
    func leastInterval() {
        #expect(sent([0: 20, 8: 30, 9: nil, 10: 30], by: policy(least: .seconds(10))) == [0, 10])
    }

    @Test("the sending policy sends an unchanged value again after the greatest interval")
    func greatestInterval() {
        #expect(sent([0: 20, 59: 20, 60: 20, 61: 20], by: policy(deadband: 1, greatest: .seconds(60))) == [0, 60])
    }

    @Test("the sending policy sends a change of quality, once")
    func quality() {
        #expect(sent([0: 20, 1: nil, 2: nil, 3: 20], by: policy(deadband: 5)) == [0, 1, 3])
    }
}
