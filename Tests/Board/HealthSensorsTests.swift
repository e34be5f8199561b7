import Foundation
import Testing

@testable import Board

@Suite("Sensors of a board's health")
struct HealthSensorsTests {
    private static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Boards").standardizedFileURL.path
    private static let catalog = BoardCatalog(folders: [shipped])

    private func read(_ metric: SensorDefinition.SystemMetric, _ files: [String: String]) throws -> SensorValue {
        let source = SensorDefinition.Source.system(metric)
        let tree = try FakeTree(files)
        var probe = SensorProbe(
            SensorDefinition(name: "s", source: source, unit: source.quantity?.unit ?? .count), on: tree.machine)
        return try probe.read()
    }

    private static let firmware = [
        "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n", "/sys/class/thermal/thermal_zone0/temp": "48500\n",
        "/sys/class/hwmon/hwmon0/name": "rpi_volt\n", "/sys/class/hwmon/hwmon0/in0_lcrit_alarm": "0\n",
        "/sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
        "/proc/stat": "cpu  100 0 100 700 100 0 0 0 0 0\n",
        "/proc/net/wireless": """
        Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
         face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
         wlan0: 0000   62.  -48.  -256        0      0      0      0      0        0

        """,
        "/sys/block/mmcblk0/device/life_time": "0x01 0x02\n", "/sys/block/mmcblk0/device/pre_eol_info": "0x01\n",
        "/proc/device-tree/chosen/bootloader/rsts": "\0\0\u{10}\0",
    ]

    @Test("a board that has all sources has all sensors of its health")
    func complete() async throws {
        let tree = try FakeTree(Self.firmware)
        let definition = BoardDefinition(name: "b", title: "B", sensors: try Self.catalog.healthSensors())
        let month = try #require(CalendarMonth("2026-11"))
        let machine = Machine(root: tree.root) {
            MonthlyTraffic(month: month, used: Traffic(sent: 1000, received: 2000))
        }
        let values = await BoardCheck.run(definition, on: machine).map { check -> String in
            guard case .sensor(let name) = check.part, case .reading(let reading) = check.finding else {
                return "\(check)"
            }
            return "\(name) \(reading.value ?? .nan) \(reading.unit.rawValue) \(reading.quality)"
        }
        #expect(
            values == [
                "cpu.temperature 48.5 Cel good", "board.under-voltage 0.0 count good", "board.throttled 0.0 count good",
                "cpu.busy 20.0 % good", "wifi.signal -48.0 dBm good", "storage.worn 20.0 % good",
                "storage.reserve 1.0 count good", "board.boot-reason 1.0 count good",
                "network.sent 1000.0 B good", "network.received 2000.0 B good",
            ])
    }

    @Test("a board that has no source lacks the sensors silently")
    func none() async throws {
        let tree = try FakeTree()
        let definition = BoardDefinition(name: "b", title: "B", sensors: try Self.catalog.healthSensors())
        let checks = await BoardCheck.run(definition, on: tree.machine)
        #expect(checks.count == definition.sensors.count)
        for check in checks { #expect(check.finding == .notFitted) }
    }

    @Test("every definition has the sensors of any board's health, except those that it has itself")
    func added() throws {
        let health = try Self.catalog.healthSensors()
        for name in Self.catalog.names {
            var definition = try Self.catalog.definition(named: name)
            let own = definition.sensors
            definition.add(health)
            #expect(definition.sensors.prefix(own.count) == own[...])
            #expect(Set(definition.sensors.map(\.name)).count == definition.sensors.count)
            #expect(Set(definition.sensors.map(\.name)).isSuperset(of: health.map(\.name)))
        }
        #expect(try BoardCatalog(folders: ["/nonexistent"]).healthSensors() == [])
        let own = try FakeTree(["/health.toml": "titel = \"Mine\""])
        #expect(throws: BoardError.self) { try BoardCatalog(folders: [own.root, Self.shipped]).healthSensors() }
    }

    @Test("a quiet board sends at most one message of its health in five minutes, and in six hours hardly any")
    func budget() throws {
        let sensors = try Self.catalog.healthSensors()
        var schedule = PollingSchedule(periods: sensors.map(\.period), startingAt: .zero, retryCap: .seconds(300))
        var policies = sensors.map(SendingPolicy.init)
        var messages: [Duration] = []
        while let now = schedule.nextDue, now < .seconds(86_400) {
            var isWorthSending = false
            for item in schedule.due(at: now) {
                schedule.recordSuccess(item.index, at: now)
                // Alarms stay as they are; all else goes up and down as far as it may.
                let swing = sensors[item.index].unit == .count ? 0 : sensors[item.index].deadband * 0.9
                let value = Int(now / .seconds(300)) % 2 == 0 ? swing : 0
                if policies[item.index].shouldSend(value, .good, at: item.at) { isWorthSending = true }
            }
            if isWorthSending { messages.append(now) }
        }
        #expect(messages == [.zero, .seconds(21_600), .seconds(43_200), .seconds(64_800)])
        for sensor in sensors where sensor.deadband > 0 { #expect(sensor.period.components.seconds % 300 == 0) }
    }

    @Test("the wear of eMMC is that of its worse type of memory; cards and what is undefined say nothing")
    func wear() throws {
        let file = "/sys/block/mmcblk1/device/life_time"
        for (text, percent) in [("0x01 0x01\n", 10), ("0x03 0x0a\n", 100), ("0x0B 0x00\n", 110), ("0x00 0x05", 50)] {
            #expect(try read(.flashWorn, [file: text, "/sys/block/mmcblk0/device/x": ""]).value == Double(percent))
        }
        for text in ["0x00 0x00\n", "", "0x0C\n", "1 2\n"] {
            #expect(
                throws: BoardError.metricAbsent(sensor: "s", place: "/sys/block/mmcblk*/device/life_time"),
                performing: { try read(.flashWorn, [file: text]) })
        }
        let two = [
            "/sys/block/mmcblk0/device/pre_eol_info": "0x01\n", "/sys/block/mmcblk1/device/pre_eol_info": "0x03",
        ]
        #expect(try read(.flashReserve, two).value == 3)
    }

    @Test("the reason of a boot is the watchdog's, or that of a Raspberry Pi's reset register")
    func bootReason() throws {
        let (status, register) = (
            "/sys/class/watchdog/watchdog0/bootstatus", "/proc/device-tree/chosen/bootloader/rsts"
        )
        #expect(try read(.bootReason, [status: "32\n", register: "\0\0\u{10}\0"]).value == 3)
        #expect(try read(.bootReason, [status: "1\n"]).value == 4)
        #expect(try read(.bootReason, [status: "16\n"]).value == 5)
        #expect(try read(.bootReason, [status: "0\n", register: "\0\0\u{10}\0"]).value == 1)
        #expect(try read(.bootReason, [register: "\0\0\0 "]).value == 2)
        for files in [[:], [status: "0\n"], [register: "\0\0\0"]] {
            #expect(
                throws: BoardError.metricAbsent(
                    sensor: "s", place: "bootstatus in /sys/class/watchdog, and no \(register)"),
                performing: { try read(.bootReason, files) })
        }
    }
}
