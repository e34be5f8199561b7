import Testing

@testable import Board

@Suite("System metric")
struct SystemMetricTests {
    private func read(_ metric: SensorDefinition.SystemMetric, _ tree: FakeTree) throws -> Double {
        var probe = probe(metric, on: tree.machine)
        return try probe.read().value
    }

    private func probe(_ metric: SensorDefinition.SystemMetric, on machine: Machine) -> SensorProbe {
        let source = SensorDefinition.Source.system(metric)
        return SensorProbe(
            SensorDefinition(name: "s", source: source, unit: source.quantity?.unit ?? .count), on: machine)
    }

    @Test("system metrics are load, memory, disk and uptime")
    func system() throws {
        let tree = try FakeTree([
            "/proc/loadavg": "0.42 0.30 0.25 1/123 4567\n", "/proc/uptime": "3661.53 7000.00\n",
            "/proc/meminfo": "MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     512 kB\n",
            "/var/x": "",
        ])
        #expect(try read(.load, tree) == 0.42)
        #expect(try read(.uptime, tree) == 3661.53)
        #expect(try read(.memoryAvailable, tree) == 524_288)
        #expect(try read(.diskFree(path: "/var"), tree) > 0)
        #expect(throws: BoardError.metricAbsent(sensor: "s", place: "/srv")) {
            try read(.diskFree(path: "/srv"), tree)
        }
    }

    @Test("system metrics can be read of this machine")
    func realSystem() throws {
        for metric in [SensorDefinition.SystemMetric.load, .memoryAvailable, .uptime, .processor] {
            var probe = probe(metric, on: Machine())
            #expect(try probe.read().value >= 0)
        }
    }

    @Test("the share of busy time is that since the last reading, and at first that since the start")
    func processor() throws {
        let stat = "/proc/stat"
        let tree = try FakeTree([stat: "cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n"])
        var probe = probe(.processor, on: tree.machine)
        #expect(try probe.read() == SensorValue(value: 20, quality: .good))
        // Of 400 ticks, 100 were idle and 100 went by while a disk was busy.
        try tree.write("cpu  200 0 150 800 200 25 25 0 50 0\n", to: stat)
        #expect(try probe.read().value == 50)
        #expect(try probe.read().value == 50)
        try tree.write("cpu  220 0 150 800 199 25 25 0 50 0\n", to: stat)
        #expect(try probe.read().value == 100)
        try tree.write("cpu  1 2\n", to: stat)
        #expect(throws: BoardError.sensorMalformed(sensor: "s", path: stat, text: "cpu  1 2?")) { try probe.read() }
    }

    private let header = """
        Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
         face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22

        """

    @Test("the signal is that of the named interface, or of the first one, in dBm")
    func signal() throws {
        let file = "/proc/net/wireless"
        let lines = """
             wlan0: 0000   62.  -48.  -256        0      0      0      0      0        0
            wlan1: 0000    0     0     0        0      0      0      0      0        0
            wlan2: 0000   90    71.  161.        0      0      0      0      0        0

            """
        let tree = try FakeTree([file: header + lines])
        #expect(try read(.wirelessSignal(interfaces: []), tree) == -48)
        #expect(try read(.wirelessSignal(interfaces: ["wlan9", "wlan0"]), tree) == -48)
        for (name, reason) in [
            ("wlan1", "wlan1 is not connected"), ("wlan2", "the driver of wlan2 does not give its signal in dBm"),
        ] {
            #expect(throws: BoardError.sensorUnreadable(sensor: "s", path: file, reason: reason)) {
                try read(.wirelessSignal(interfaces: [name]), tree)
            }
        }
        #expect(throws: BoardError.metricAbsent(sensor: "s", place: "wlan3 in \(file)")) {
            try read(.wirelessSignal(interfaces: ["wlan3"]), tree)
        }
        let unconnected = lines.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n"
        for rest in ["", unconnected] {
            try tree.write(header + rest, to: file)
            #expect(throws: BoardError.metricAbsent(sensor: "s", place: "wireless connection in \(file)")) {
                try read(.wirelessSignal(interfaces: []), tree)
            }
        }
        try tree.remove(file)
        #expect(throws: BoardError.metricAbsent(sensor: "s", place: file)) {
            try read(.wirelessSignal(interfaces: []), tree)
        }
    }

    @Test(
        "a Raspberry Pi says whether it slows its processor now, in a folder whose name differs by model",
        arguments: [
            ("0", 0), ("50000", 0), ("1", 0), ("50005", 1), ("2", 1), ("80008", 1),
        ])
    func throttled(flags: String, value: Double) throws {
        for folder in ["soc/soc:firmware", "soc@107c000000/soc@107c000000:firmware"] {
            let tree = try FakeTree(["/sys/devices/platform/\(folder)/get_throttled": "\(flags)\n"])
            #expect(try read(.throttled, tree) == value)
        }
    }

    @Test("what no Raspberry Pi has is absent")
    func noFirmware() throws {
        let place = "/sys/devices/platform/soc/soc:firmware/get_throttled"
        let tree = try FakeTree(["/sys/devices/platform/soc/x": ""])
        #expect(throws: BoardError.metricAbsent(sensor: "s", place: place)) { try read(.throttled, tree) }
    }
}
