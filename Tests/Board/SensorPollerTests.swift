import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Board

@Suite("Sensor poller", .timeLimit(.minutes(5)))
struct SensorPollerTests {
    private let clock = ManualClock()
    private let tree: FakeTree
    private let wire = "/sys/bus/w1/devices/28-01/temperature"

    init() throws {
        tree = try FakeTree([
            "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
            "/sys/class/thermal/thermal_zone0/temp": "40000\n",
            "/sys/bus/w1/devices/28-01/temperature": "20000\n",
        ])
    }

    private func cpu(period: Int = 10, deadband: Double = 1) -> SensorDefinition {
        SensorDefinition(
            name: "cpu", source: .thermal(zones: ["cpu-thermal"]), unit: .celsius, divisor: 1000,
            period: .seconds(period),
            deadband: deadband)
    }

    private func pipe(device: String = "28-01", isOptional: Bool = false) -> SensorDefinition {
        SensorDefinition(
            name: "pipe", source: .oneWire(devices: [device]), unit: .celsius, divisor: 1000, period: .seconds(10),
            isOptional: isOptional)
    }

    private func poller(_ sensors: SensorDefinition...) -> SensorPoller {
        SensorPoller(
            sensors, on: tree.machine, clock: clock, wallClock: { Date(timeIntervalSince1970: 1_767_225_600) },
            retryCap: .seconds(40))
    }

    /// Runs the poller while the body does.
    private func polling(_ poller: SensorPoller, _ body: () async throws -> Void) async throws {
        let task = Task { try await poller.run() }
        defer { task.cancel() }
        try await body()
    }

    @Test("the sensor poller sends all sensors as one set at the start, and sleeps until the next is due")
    func start() async throws {
        let poller = poller(cpu(), pipe())
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try await polling(poller) {
            let set = try #require(await samples.next())
            #expect(set.readings.map(\.name) == ["cpu", "pipe"])
            #expect(set.readings.map(\.value) == [40, 20])
            #expect(await clock.sleeper() == clock.now + .seconds(10))
            #expect(await poller.latest().map(\.value) == [40, 20])
        }
    }

    @Test("the sensor poller sends only what left its deadband")
    func deadband() async throws {
        let poller = poller(cpu(), pipe())
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try await polling(poller) {
            _ = await samples.next()
            try tree.write("40900\n", to: "/sys/class/thermal/thermal_zone0/temp")
            try tree.write("20100\n", to: wire)
            await clock.moveToSleeper()
            #expect(await samples.next()?.readings.map(\.name) == ["pipe"])
            #expect(await poller.latest().map(\.value) == [40.9, 20.1])
        }
    }

    @Test("the sensor poller reads a part that fails again within seconds, and sends the value that was due")
    func passing() async throws {
        let poller = poller(pipe())
        let events = poller.events.subscribe()
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try await polling(poller) {
            _ = await samples.next()
            try tree.write("", to: wire)
            await clock.moveToSleeper()
            #expect(await clock.sleeper() == clock.now + .seconds(2))
            await clock.moveToSleeper()
            #expect(await clock.sleeper() == clock.now + .seconds(4))
            try tree.write("21000\n", to: wire)
            await clock.moveToSleeper()
            #expect(await samples.next()?.readings.map(\.value) == [21])
            // Back on the grid, six seconds after a point of it.
            #expect(await clock.sleeper() == clock.now + .seconds(4))
            #expect(await poller.counts().map(\.failed) == [2])
            #expect(await poller.failing().isEmpty)
        }
        poller.events.finish()
        for await event in events { Issue.record("\(event)") }
    }

    @Test("the sensor poller reports a failing sensor once, retries it less often, and reports its recovery")
    func failure() async throws {
        let poller = poller(pipe())
        var samples = poller.samples.subscribe().makeAsyncIterator()
        var events = poller.events.subscribe().makeAsyncIterator()
        try await polling(poller) {
            _ = await samples.next()
            try tree.write("", to: wire)
            for _ in 0...PollingSchedule.soon.count { await clock.moveToSleeper() }
            let error = BoardError.sensorSilent(sensor: "pipe", path: wire)
            #expect(await events.next() == .failed(sensor: "pipe", error))
            let bad = try #require(await samples.next()?.readings.first)
            #expect(bad.value == nil && bad.quality == .bad)
            #expect(await poller.failing().map(\.error) == [error])

            for delay in [10, 20, 40, 40] {
                #expect(await clock.sleeper() == clock.now + .seconds(delay))
                if delay == 40 { try tree.write("21000\n", to: wire) }
                await clock.moveToSleeper()
                if delay == 40 { break }
            }
            #expect(await events.next() == .recovered(sensor: "pipe"))
            #expect(await samples.next()?.readings.map(\.value) == [21])
            #expect(await poller.failing().isEmpty)
        }
    }

    @Test("the sensor poller keeps reading the others at their periods while one fails")
    func others() async throws {
        try tree.remove(wire)
        let poller = poller(cpu(deadband: 0), pipe())
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try await polling(poller) {
            #expect(await samples.next()?.readings.map(\.quality) == [.good, .bad])
            for step in 1...8 {
                try tree.write("\(40_000 + step)\n", to: "/sys/class/thermal/thermal_zone0/temp")
                await clock.moveToSleeper()
                #expect(await samples.next()?.readings.map(\.name) == ["cpu"])
            }
        }
    }

    @Test("the sensor poller ignores an optional part that was never there, but reports one that vanished")
    func optional() async throws {
        let poller = poller(cpu(deadband: 0), pipe(isOptional: true))
        let events = poller.events.subscribe()
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try tree.move(wire, to: "/elsewhere")
        try await polling(poller) {
            #expect(await samples.next()?.readings.map(\.name) == ["cpu"])
            #expect(await poller.failing().isEmpty)
            try tree.move("/elsewhere", to: wire)
            await clock.moveToSleeper()
            #expect(await samples.next()?.readings.map(\.name) == ["pipe"])
            try tree.remove(wire)
            for _ in 0...PollingSchedule.soon.count { await clock.moveToSleeper() }
            #expect(await samples.next()?.readings.map(\.quality) == [.bad])
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .failed(sensor: "pipe", .sensorVanished(sensor: "pipe", path: wire)))
        }
    }

    @Test("the sensor poller is silent about an optional value of the machine itself while that is away")
    func comingAndGoing() async throws {
        let wifi = SensorDefinition(
            name: "wifi", source: .system(.wirelessSignal(interfaces: [])), unit: .decibelMilliwatts,
            period: .seconds(10), isOptional: true)
        let poller = poller(cpu(deadband: 0), wifi)
        var samples = poller.samples.subscribe().makeAsyncIterator()
        let file = "/proc/net/wireless"
        func signal(_ level: Int) throws { try tree.write("h\nh\n wlan0: 0000 62. \(level). -256\n", to: file) }
        try signal(-48)
        try await polling(poller) {
            #expect(await samples.next()?.readings.map(\.value).last == -48)
            try signal(0)
            try tree.write("41000\n", to: "/sys/class/thermal/thermal_zone0/temp")
            for _ in 0...PollingSchedule.soon.count { await clock.moveToSleeper() }
            #expect(await samples.next()?.readings.map(\.name) == ["cpu"])
            try signal(-50)
            await clock.moveToSleeper()
            #expect(await samples.next()?.readings.map(\.name) == ["wifi"])
            #expect(await poller.failing().isEmpty)
            #expect(await poller.absentCount() == 0)
        }
    }

    @Test("the sensor poller repeats an unchanged value after the greatest interval, even with a late timer")
    func greatestInterval() async throws {
        let sensor = SensorDefinition(
            name: "cpu", source: .thermal(zones: ["cpu-thermal"]), unit: .celsius, divisor: 1000, period: .seconds(30),
            deadband: 1, greatestInterval: .seconds(30))
        let poller = poller(sensor)
        var samples = poller.samples.subscribe().makeAsyncIterator()
        try await polling(poller) {
            _ = await samples.next()
            // The second interval is shorter than the greatest by 8 ms.
            for late in [9, 1] {
                clock.move(to: await clock.sleeper() + .milliseconds(late))
                #expect(await samples.next()?.readings.map(\.value) == [40])
            }
        }
    }
}
