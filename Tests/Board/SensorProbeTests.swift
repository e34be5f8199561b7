import Foundation
import Groundwork
import Testing

@testable import Board

@Suite("Sensor probe")
struct SensorProbeTests {
    private func sensor(_ source: SensorDefinition.Source, scale: Double = 1, offset: Double = 0) -> SensorDefinition {
        let quantity = source.quantity
        return SensorDefinition(
            name: "s", source: source, unit: quantity?.unit ?? .count, divisor: quantity?.divisor ?? 1, scale: scale,
            offset: offset)
    }

    private func read(_ source: SensorDefinition.Source, _ tree: FakeTree) throws -> SensorValue {
        var probe = SensorProbe(sensor(source), on: tree.machine)
        return try probe.read()
    }

    @Test("a sensor probe reads a hwmon channel of the device with that name")
    func hwmon() throws {
        let tree = try FakeTree([
            "/sys/class/hwmon/hwmon0/name": "other\n", "/sys/class/hwmon/hwmon0/temp1_input": "1000\n",
            "/sys/class/hwmon/hwmon1/name": "tmp75\n", "/sys/class/hwmon/hwmon1/temp1_input": "21500\n",
            "/sys/class/hwmon/hwmon1/humidity1_input": "45250\n",
        ])
        let temperature = try read(.hwmon(devices: ["tmp75"], channel: "temp1", bus: nil), tree)
        #expect(temperature == SensorValue(value: 21.5, quality: .good))
        #expect(try read(.hwmon(devices: ["tmp75"], channel: "humidity1", bus: nil), tree).value == 45.25)
    }

    @Test("a sensor probe finds a hwmon device again under another number, even if its old one is taken")
    func renumbered() throws {
        let tree = try FakeTree([
            "/sys/class/hwmon/hwmon1/name": "tmp75\n", "/sys/class/hwmon/hwmon1/temp1_input": "21500\n",
        ])
        var probe = SensorProbe(sensor(.hwmon(devices: ["tmp75"], channel: "temp1", bus: nil)), on: tree.machine)
        #expect(try probe.read().value == 21.5)
        try tree.move("/sys/class/hwmon/hwmon1", to: "/sys/class/hwmon/hwmon12")
        try tree.write("lm75\n", to: "/sys/class/hwmon/hwmon1/name")
        try tree.write("99000\n", to: "/sys/class/hwmon/hwmon1/temp1_input")
        #expect(try probe.read().value == 21.5)
    }

    @Test("a sensor probe distinguishes two devices of one name by their place on the bus")
    func bus() throws {
        let tree = try FakeTree([
            "/sys/class/hwmon/hwmon0/name": "lm75\n", "/sys/class/hwmon/hwmon0/temp1_input": "1000\n",
            "/sys/class/hwmon/hwmon1/name": "lm75\n", "/sys/class/hwmon/hwmon1/temp1_input": "2000\n",
            "/sys/devices/i2c-1/1-0048/x": "", "/sys/devices/i2c-1/1-0049/x": "",
        ])
        try tree.link("/sys/class/hwmon/hwmon0/device", to: "/sys/devices/i2c-1/1-0048")
        try tree.link("/sys/class/hwmon/hwmon1/device", to: "/sys/devices/i2c-1/1-0049")
        #expect(try read(.hwmon(devices: ["lm75"], channel: "temp1", bus: "1-0049"), tree).value == 2)
        #expect(throws: BoardError.sensorAbsent(sensor: "s", place: "hwmon device lm75 at 1-004a")) {
            try read(.hwmon(devices: ["lm75"], channel: "temp1", bus: "1-004a"), tree)
        }
    }

    @Test("a sensor probe finds a device by its bus where a chip of several functions has a device for each")
    func partOnBus() throws {
        let part = "/sys/devices/i2c-1/1-0028/chip.1.auto"
        let tree = try FakeTree([
            "\(part)/iio:device3/name": "adc\n", "\(part)/iio:device3/in_temp_input": "1000\n",
            "\(part)/hwmon/hwmon3/name": "fan\n", "\(part)/hwmon/hwmon3/fan1_input": "900\n",
            "/sys/bus/iio/devices/x": "", "/sys/class/hwmon/x": "",
        ])
        try tree.link("/sys/bus/iio/devices/iio:device3", to: "\(part)/iio:device3")
        try tree.link("/sys/class/hwmon/hwmon3", to: "\(part)/hwmon/hwmon3")
        try tree.link("\(part)/hwmon/hwmon3/device", to: part)
        #expect(try read(.iio(devices: ["adc"], channel: "temp", bus: "1-0028"), tree).value == 1)
        #expect(try read(.iio(devices: ["adc"], channel: "temp", bus: "chip.1.auto"), tree).value == 1)
        #expect(try read(.hwmon(devices: ["fan"], channel: "fan1", bus: "1-0028"), tree).value == 900)
        #expect(throws: BoardError.self) { try read(.iio(devices: ["adc"], channel: "temp", bus: "1-0029"), tree) }
    }

    @Test("a sensor probe prefers the first of several names")
    func preference() throws {
        let tree = try FakeTree([
            "/sys/class/thermal/thermal_zone0/type": "acpitz\n", "/sys/class/thermal/thermal_zone0/temp": "30000\n",
            "/sys/class/thermal/thermal_zone1/type": "cpu-thermal\n",
            "/sys/class/thermal/thermal_zone1/temp": "48500\n",
        ])
        #expect(try read(.thermal(zones: ["cpu-thermal", "acpitz"]), tree).value == 48.5)
        #expect(try read(.thermal(zones: ["soc-thermal", "acpitz"]), tree).value == 30)
        try tree.write("21000\n", to: "/sys/bus/w1/devices/28-02/temperature")
        try tree.write("22000\n", to: "/sys/bus/w1/devices/28-03/temperature")
        #expect(try read(.oneWire(devices: ["28-01", "28-03", "28-02"]), tree).value == 22)
        let place = "/sys/bus/w1/devices/28-01/temperature or /sys/bus/w1/devices/28-04/temperature"
        #expect(throws: BoardError.sensorAbsent(sensor: "s", place: place)) {
            try read(.oneWire(devices: ["28-01", "28-04"]), tree)
        }
    }

    @Test("a sensor probe reads a processed IIO channel, or a raw one with its scale and offset")
    func iio() throws {
        let device = "/sys/bus/iio/devices/iio:device0"
        let tree = try FakeTree([
            "\(device)/name": "bme280\n", "\(device)/in_pressure_input": "101.324997070\n",
            "\(device)/in_temp_raw": "200\n", "\(device)/in_temp_scale": "62.500000\n",
            "\(device)/in_temp_offset": "100\n",
            "\(device)/in_voltage0_raw": "1024\n", "\(device)/in_voltage_scale": "0.125000\n",
        ])
        func value(_ channel: String) throws -> Double {
            try read(.iio(devices: ["bme280"], channel: channel, bus: nil), tree).value
        }
        #expect(try value("pressure") == 1013.249971)
        #expect(try value("temp") == 18.75)
        #expect(try value("voltage0") == 0.128)
    }

    @Test("a sensor probe applies the definition's correction after the driver's scale")
    func correction() throws {
        let zone = "/sys/class/thermal/thermal_zone0"
        let tree = try FakeTree(["\(zone)/type": "t", "\(zone)/temp": "20000"])
        var probe = SensorProbe(sensor(.thermal(zones: ["t"]), scale: 1.1, offset: -0.5), on: tree.machine)
        #expect(try probe.read().value == 21.5)
    }

    @Test("a sensor probe treats an empty 1-Wire file as a part that does not respond")
    func silent() throws {
        let path = "/sys/bus/w1/devices/28-0000d0a7b001/temperature"
        let tree = try FakeTree([path: ""])
        #expect(throws: BoardError.sensorSilent(sensor: "s", path: path)) {
            try read(.oneWire(devices: ["28-0000d0a7b001"]), tree)
        }
    }

    @Test("a sensor probe marks the power-up value of a 1-Wire thermometer as uncertain")
    func powerOnValue() throws {
        let tree = try FakeTree(["/sys/bus/w1/devices/28-01/temperature": "85000\n"])
        #expect(try read(.oneWire(devices: ["28-01"]), tree) == SensorValue(value: 85, quality: .uncertain))
        try tree.write("84937\n", to: "/sys/bus/w1/devices/28-01/temperature")
        #expect(try read(.oneWire(devices: ["28-01"]), tree) == SensorValue(value: 84.937, quality: .good))
    }

    @Test("a sensor probe marks impossible values as uncertain")
    func implausible() throws {
        let tree = try FakeTree([
            "/sys/class/hwmon/hwmon0/name": "d", "/sys/class/hwmon/hwmon0/humidity1_input": "118000",
            "/sys/class/hwmon/hwmon0/temp1_input": "-300000",
        ])
        #expect(try read(.hwmon(devices: ["d"], channel: "humidity1", bus: nil), tree).quality == .uncertain)
        #expect(try read(.hwmon(devices: ["d"], channel: "temp1", bus: nil), tree).quality == .uncertain)
    }

    @Test("a sensor probe marks a value as uncertain that the definition has in another unit, without a scale")
    func otherUnit() throws {
        let device = "/sys/bus/iio/devices/iio:device0"
        let tree = try FakeTree(["\(device)/name": "bme280\n", "\(device)/in_pressure_input": "101.325\n"])
        let source = SensorDefinition.Source.iio(devices: ["bme280"], channel: "pressure", bus: nil)
        func read(_ unit: SenMLUnit, scale: Double = 1) throws -> SensorValue {
            var probe = SensorProbe(
                SensorDefinition(name: "s", source: source, unit: unit, scale: scale), on: tree.machine)
            return try probe.read()
        }
        #expect(try read(.pascal) == SensorValue(value: 101.325, quality: .uncertain))
        #expect(try read(.pascal, scale: 1000) == SensorValue(value: 101_325, quality: .good))
        #expect(try read(.count) == SensorValue(value: 101.325, quality: .good))
    }

    @Test("a sensor probe names the missing device or channel")
    func absent() throws {
        let tree = try FakeTree(["/sys/class/hwmon/hwmon0/name": "d\n"])
        #expect(throws: BoardError.sensorAbsent(sensor: "s", place: "hwmon device x or y")) {
            try read(.hwmon(devices: ["x", "y"], channel: "temp1", bus: nil), tree)
        }
        let none = BoardError.channelAbsent(sensor: "s", device: "hwmon device d", channel: "temp1", present: [])
        #expect(throws: none) { try read(.hwmon(devices: ["d"], channel: "temp1", bus: nil), tree) }
    }

    @Test("a sensor probe says which channels a device has instead of the one that is named")
    func otherChannels() throws {
        let monitor = "/sys/class/hwmon/hwmon0"
        let converter = "/sys/bus/iio/devices/iio:device0"
        let tree = try FakeTree([
            "\(monitor)/name": "d\n", "\(monitor)/in0_lcrit_alarm": "1\n", "\(monitor)/temp1_input": "1\n",
            "\(monitor)/temp1_max": "1\n", "\(monitor)/uevent": "", "\(converter)/name": "d\n",
            "\(converter)/in_voltage0_raw": "1\n", "\(converter)/in_voltage_scale": "1\n",
        ])
        let present = ["temp1", "in0_lcrit_alarm"]
        let noInput = BoardError.channelAbsent(sensor: "s", device: "hwmon device d", channel: "in0", present: present)
        #expect(throws: noInput) { try read(.hwmon(devices: ["d"], channel: "in0", bus: nil), tree) }
        #expect(noInput.message == "sensor s: hwmon device d has no channel in0; it has temp1, in0_lcrit_alarm")
        let noRaw = BoardError.channelAbsent(
            sensor: "s", device: "IIO device d", channel: "voltage1", present: ["voltage0"])
        #expect(throws: noRaw) { try read(.iio(devices: ["d"], channel: "voltage1", bus: nil), tree) }
    }

    @Test("a sensor probe names the file that was there before, whether it is gone alone or with its device")
    func vanished() throws {
        let device = "/sys/bus/iio/devices/iio:device4"
        let file = "\(device)/in_humidityrelative_input"
        let tree = try FakeTree(["\(device)/name": "dht11@0\n", file: "45000\n"])
        let source = SensorDefinition.Source.iio(devices: ["dht11@0"], channel: "humidityrelative", bus: nil)
        var probe = SensorProbe(sensor(source), on: tree.machine)
        #expect(try probe.read().value == 45)
        try tree.remove(file)
        let gone = BoardError.sensorVanished(sensor: "s", path: file)
        #expect(throws: gone) { try probe.read() }
        #expect(gone.message == "sensor s: \(file) has disappeared")
        try tree.remove(device)
        #expect(throws: gone) { try probe.read() }
    }

    @Test(
        "a sensor probe refuses what is not a number, too long or not a file, and waits for no pipe",
        .timeLimit(.minutes(5)))
    func hostile() throws {
        let path = "/sys/class/thermal/thermal_zone0/temp"
        let tree = try FakeTree(["/sys/class/thermal/thermal_zone0/type": "t", path: "hot\n"])
        func fault() -> BoardError? {
            do {
                _ = try read(.thermal(zones: ["t"]), tree)
                return nil
            } catch { return error as? BoardError }
        }
        #expect(fault() == .sensorMalformed(sensor: "s", path: path, text: "hot?"))
        try tree.write(String(repeating: "1", count: 1 << 20), to: path)
        #expect(fault() == .sensorMalformed(sensor: "s", path: path, text: "more than 64 bytes"))
        try tree.remove(path)
        mkfifo(tree.root + path, 0o600)
        #expect(fault() == .sensorUnreadable(sensor: "s", path: path, reason: "it is not a regular file"))
    }
}
