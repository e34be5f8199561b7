import Board
import Groundwork
import Settings
import Testing

@Suite("Board definition")
struct BoardDefinitionTests {
    private func faults(_ toml: String) -> [SettingsFault] {
        do throws(BoardError) {
            _ = try BoardDefinition(toml: toml, path: "/boards/test.toml")
            return []
        } catch {
            guard case .definitionFaulty("/boards/test.toml", let faults) = error else { return [] }
            return faults
        }
    }

    @Test("a board definition says where the button, the LED and the sensors are")
    func complete() throws {
        let board = try BoardDefinition(
            toml: """
                title = "Test board"
                models = "Test Board"
                [button]
                chip = "chip"
                line = 17
                active = "low"
                bias = "pull-up"
                debounce-ms = 30
                [led]
                chip = "chip"
                line = "GPIO27"
                [[sensor]]
                name = "pressure"
                source = "iio"
                device = ["bme280", "bmp280"]
                channel = "pressure"
                bus = "1-0076"
                unit = "hPa"
                scale = 1.01
                offset = -0.5
                period-s = 30
                deadband = 0.2
                least-interval-s = 60
                greatest-interval-s = 600
                optional = true
                """, path: "/boards/test.toml")
        #expect(board.name == "test")
        #expect(board.models == ["Test Board"])
        #expect(
            board.button
                == LineDefinition(
                    place: .gpio(chip: "chip", line: .offset(17)), active: .low, bias: .pullUp,
                    debounce: .milliseconds(30)))
        #expect(board.led == LineDefinition(place: .gpio(chip: "chip", line: .name("GPIO27"))))
        #expect(
            board.sensors == [
                SensorDefinition(
                    name: "pressure", source: .iio(devices: ["bme280", "bmp280"], channel: "pressure", bus: "1-0076"),
                    unit: .hectopascal, divisor: 0.1, scale: 1.01, offset: -0.5, period: .seconds(30), deadband: 0.2,
                    leastInterval: .seconds(60), greatestInterval: .seconds(600), isOptional: true)
            ])
    }

    @Test("a board definition gives a channel its default unit and scale, unless it names another")
    func naturalUnits() throws {
        let sensors = try BoardDefinition(
            toml: """
                title = "Test board"
                sensor = [
                    { name = "a", source = "hwmon", device = "d", channel = "temp2" },
                    { name = "b", source = "hwmon", device = "d", channel = "in0" },
                    { name = "c", source = "iio", device = "d", channel = "rot0", unit = "count", scale = 2.0 },
                    { name = "d", source = "system", channel = "memory-available" },
                    { name = "e", source = "hwmon", device = "rpi_volt", channel = "in0_lcrit_alarm" },
                    { name = "f", source = "iio", device = "d", channel = "accel_x" },
                    { name = "g", source = "system", channel = "cpu" },
                    { name = "h", source = "system", channel = "wifi-signal", device = "wlan0" },
                    { name = "i", source = "w1", device = ["28-01", "28-02"] },
                ]
                """, path: "test.toml"
        ).sensors
        #expect(
            sensors.map(\.unit) == [
                .celsius, .volt, .count, .byte, .count, .metresPerSquareSecond, .percent, .decibelMilliwatts, .celsius,
            ])
        #expect(sensors.map(\.divisor) == [1000, 1000, 1, 1, 1, 1, 1, 1, 1000])
        #expect(sensors[7].source == .system(.wirelessSignal(interfaces: ["wlan0"])))
        #expect(sensors[8].source == .oneWire(devices: ["28-01", "28-02"]))
    }

    private static let title = "title = \"t\"\n"
    private static let load = "[[sensor]]\nname = \"a\"\nsource = \"system\"\nchannel = \"load\"\n"
    private static let sensor = "[[sensor]]\nname = \"a\"\n"
    private static let button = "[button]\nchip = \"c\"\n"

    @Test(
        "a board definition's fault names its key path and what to write instead",
        arguments: [
            ("", "title", "missing"),
            ("title = 7", "title", "is 7"),
            (title + "titel = \"t\"", "titel", "unknown key"),
            (title + "sensor = 5", "sensor", "is 5"),

            (title + "[button]\nline = 1", "button.chip", "missing"),
            (title + button, "button.line", "missing"),
            (title + button + "line = -1", "button.line", "is -1"),
            (title + button + "line = 1\nactive = \"down\"", "button.active", "invalid value \"down\""),
            (title + button + "line = 1\ndebounce-ms = 5000", "button.debounce-ms", "is 5000"),
            (title + button + "simulated = true", "button.simulated", "given together with a chip or a line"),
            (title + "[led]\nsimulated = true\ndebounce-ms = 5", "led.debounce-ms", "unknown key"),

            (title + "[[sensor]]\nsource = \"system\"\nchannel = \"load\"", "sensor[0].name", "missing"),
            (title + load.replacing("\"a\"", with: "\"A b\""), "sensor[0].name", "is not a valid sensor name"),
            (title + sensor, "sensor[0].source", "missing"),
            (title + sensor + "source = \"spi\"", "sensor[0].source", "invalid value \"spi\""),
            (title + sensor + "source = \"hwmon\"\nchannel = \"temp1\"", "sensor[0].device", "missing"),
            (
                title + sensor + "source = \"hwmon\"\ndevice = \"d\"\nchannel = [\"temp1\", \"temp2\"]",
                "sensor[0].channel", "has 2 values"
            ),
            (title + sensor + "source = \"w1\"\ndevice = \"../x\"", "sensor[0].device", "has a slash or a leading dot"),
            (
                title + sensor + "source = \"iio\"\ndevice = \"d\"\nchannel = \"rot0\"", "sensor[0].unit",
                "missing, and this channel has no default unit"
            ),
            (
                title + sensor + "source = \"system\"\nchannel = \"swap\"", "sensor[0].channel",
                "\"swap\" is not a system metric"
            ),
            (title + sensor + "source = \"system\"\nchannel = \"disk-free\"", "sensor[0].path", "missing"),
            (title + load + "unit = \"C\"", "sensor[0].unit", "invalid value \"C\""),
            (title + load + "period-s = 0", "sensor[0].period-s", "is 0"),
            (title + load + "scale = nan", "sensor[0].scale", "is nan"),
            (title + load + "deadband = -1", "sensor[0].deadband", "is negative"),
            (
                title + load + "greatest-interval-s = 5", "sensor[0].greatest-interval-s",
                "is shorter than the period or the minimum interval"
            ),
        ])
    func namesFault(toml: String, keyPath: String, fault: String) {
        let found = faults(toml)
        #expect(found.map(\.keyPath) == [keyPath])
        #expect(found.map(\.fault) == [fault])
        #expect(found.allSatisfy { !$0.fix.isEmpty })
    }

    @Test("a board definition reports all faults at once, with the file")
    func allFaults() {
        let toml = "[button]\nchip = 1\nline = 1\n" + Self.load + "periods = 5"
        #expect(faults(toml).map(\.keyPath) == ["title", "button.chip", "sensor[0].periods"])
        let error = BoardError.definitionFaulty(path: "/boards/test.toml", faults: faults(toml))
        #expect(error.message.hasPrefix("board definition /boards/test.toml: title: missing; write "))
    }

    @Test("a board definition gives line and column of what is not TOML")
    func syntax() {
        #expect(faults("title = \"t\"\n[button").first?.fault.hasPrefix("line 2, column 8") == true)
    }

    @Test("a board definition refuses two sensors of one name")
    func twins() {
        #expect(faults(Self.title + Self.load + Self.load).map(\.keyPath) == ["sensor[1].name"])
    }

    @Test("a board definition refuses more sensors than a board can have")
    func tooMany() {
        let sensors = (0..<65).map { Self.load.replacing("\"a\"", with: "\"s\($0)\"") }
        #expect(faults(Self.title + sensors.joined()).map(\.keyPath) == ["sensor"])
    }
}
