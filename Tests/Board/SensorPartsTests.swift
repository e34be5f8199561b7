import Testing

@testable import Board

/// What the kernel's drivers show of parts that are often bought, and what it means. Each row has the files of the
/// device, a channel, and the value, the unit and the quality that it has.
@Suite("Parts behind the kernel's drivers")
struct SensorPartsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let part: String
        let channel: String
        let files: [String: String]
        let value: Double
        let unit: SenMLUnit
        let quality: Quality

        init(
            _ part: String, _ channel: String, _ files: [String: String], _ value: Double, _ unit: SenMLUnit,
            _ quality: Quality = .good
        ) {
            self.part = part
            self.channel = channel
            self.files = files
            self.value = value
            self.unit = unit
            self.quality = quality
        }

        var testDescription: String { "\(part) \(channel)" }
    }

    private static func read(_ row: Row, in folder: String, as source: SensorDefinition.Source) throws -> SensorValue {
        var files = ["\(folder)/name": "\(row.part)\n"]
        for (name, content) in row.files { files["\(folder)/\(name)"] = "\(content)\n" }
        let tree = try FakeTree(files)
        let quantity = try #require(source.quantity)
        #expect(quantity.unit == row.unit)
        let definition = SensorDefinition(name: "s", source: source, unit: quantity.unit, divisor: quantity.divisor)
        var probe = SensorProbe(definition, on: tree.machine)
        return try probe.read()
    }

    @Test(
        "sensors behind IIO drivers have the right value, whichever way the driver shares its scale",
        arguments: converters + surroundings + motion + light)
    func iio(row: Row) throws {
        let source = SensorDefinition.Source.iio(devices: [row.part], channel: row.channel, bus: nil)
        let value = try Self.read(row, in: "/sys/bus/iio/devices/iio:device0", as: source)
        #expect(value == SensorValue(value: row.value, quality: row.quality))
    }

    @Test("sensors behind hwmon drivers have the right value", arguments: monitors)
    func hwmon(row: Row) throws {
        let source = SensorDefinition.Source.hwmon(devices: [row.part], channel: row.channel, bus: nil)
        let value = try Self.read(row, in: "/sys/class/hwmon/hwmon0", as: source)
        #expect(value == SensorValue(value: row.value, quality: row.quality))
    }

    static let converters: [Row] = [
        Row("ads1015", "voltage0", ["in_voltage0_raw": "10560", "in_voltage0_scale": "0.125000000"], 1.32, .volt),
        Row(
            "ads1015", "voltage0-voltage1",
            ["in_voltage0-voltage1_raw": "-160", "in_voltage0-voltage1_scale": "0.125000000"], -0.02, .volt),
        Row("mcp3008", "voltage0", ["in_voltage0_raw": "512", "in_voltage_scale": "3.222656250"], 1.65, .volt),
        Row(
            "mcp3008", "voltage0-voltage1",
            [
                "in_voltage0-voltage1_raw": "256", "in_voltage-voltage_scale": "3.222656250",
                "in_voltage_scale": "1000",
            ], 0.825, .volt),
        Row("mcp3208", "voltage2", ["in_voltage2_raw": "2048", "in_voltage_scale": "0.805664062"], 1.649999999, .volt),
        Row(
            "mcp3301", "voltage0-voltage1",
            ["in_voltage0-voltage1_raw": "2048", "in_voltage-voltage_scale": "0.805664062"], 1.649999999, .volt),
        Row("hx711", "voltage0", ["in_voltage0_raw": "8388", "in_voltage_scale": "0.000004657"], 0.000039063, .volt),
        Row("ina219", "current3", ["in_current3_raw": "4200", "in_current3_scale": "0.1"], 0.42, .ampere),
        Row("ina219", "power2", ["in_power2_raw": "1050", "in_power2_scale": "2"], 2.1, .watt),
        Row(
            "xadc", "voltage0_vccint", ["in_voltage0_vccint_raw": "1365", "in_voltage_scale": "0.732"], 0.99918, .volt),
        // A reference that the driver does not know: a count is no voltage.
        Row("mcp3008", "voltage1", ["in_voltage1_raw": "512"], 0.512, .volt, .uncertain),
        Row(
            "mcp3301", "voltage0-voltage1", ["in_voltage0-voltage1_raw": "512", "in_voltage_scale": "2"], 0.512, .volt,
            .uncertain),
        Row("unknown", "voltage0", ["in_voltage0_raw": "512", "in_voltage0_scale": "0.000000"], 0, .volt, .uncertain),
    ]

    static let surroundings: [Row] = [
        Row("bme280", "temp", ["in_temp_input": "21340"], 21.34, .celsius),
        Row("bme280", "pressure", ["in_pressure_input": "101.324997070"], 1013.249971, .hectopascal),
        Row("bme280", "humidityrelative", ["in_humidityrelative_input": "45215"], 45.215, .relativeHumidity),
        Row(
            "bmp280", "temp", ["in_temp_input": "21340", "in_temp_raw": "526840", "in_temp_scale": "0.04"], 21.34,
            .celsius),
        Row("dht11@4", "humidityrelative", ["in_humidityrelative_input": "45000"], 45, .relativeHumidity),
        Row("htu21", "temp", ["in_temp_input": "21340"], 21.34, .celsius),
        Row(
            "si7020", "temp", ["in_temp_raw": "6358", "in_temp_scale": "10.725097656", "in_temp_offset": "-4368"],
            21.342944, .celsius),
        Row(
            "si7020", "humidityrelative",
            [
                "in_humidityrelative_raw": "6712", "in_humidityrelative_scale": "7.629394531",
                "in_humidityrelative_offset": "-786",
            ], 45.211792, .relativeHumidity),
        Row(
            "hdc1080", "temp",
            ["in_temp_raw": "24400", "in_temp_scale": "2.517700195", "in_temp_offset": "-15887.515151"], 21.431885,
            .celsius),
        Row(
            "mlx90614", "temp_object",
            [
                "in_temp_object_raw": "14722", "in_temp_ambient_raw": "14700", "in_temp_scale": "20",
                "in_temp_offset": "-13657.500000",
            ], 21.29, .celsius),
        Row("max31856", "temp", ["in_temp_raw": "25600", "in_temp_scale": "7.812500"], 200, .celsius),
        Row(
            "max31856", "temp_ambient", ["in_temp_ambient_raw": "5408", "in_temp_ambient_scale": "3.906250"], 21.125,
            .celsius),
        Row("max6675", "temp", ["in_temp_raw": "400", "in_temp_scale": "250"], 100, .celsius),
        Row("max31865", "temp", ["in_temp_raw": "8531", "in_temp_scale": "31.250000"], 266.59375, .celsius),
        Row(
            "scd30", "concentration_co2",
            ["in_concentration_co2_raw": "41200", "in_concentration_co2_scale": "0.000001"],
            412, .partsPerMillion),
        Row(
            "scd4x", "concentration_co2",
            ["in_concentration_co2_raw": "412", "in_concentration_co2_scale": "0.000100"],
            412, .partsPerMillion),
        Row(
            "ccs811", "concentration_voc",
            ["in_concentration_voc_raw": "125", "in_concentration_voc_scale": "0.000000100"], 0.125, .partsPerMillion),
        Row("sgp30", "concentration_co2", ["in_concentration_co2_input": "0.041200"], 412, .partsPerMillion),
        Row(
            "sps30", "massconcentration_pm2p5", ["in_massconcentration_pm2p5_input": "7.25"], 7.25,
            .microgramsPerCubicMetre),
        Row("atlas", "ph", ["in_ph_raw": "7012", "in_ph_scale": "0.001000"], 7.012, .acidity),
    ]

    static let motion: [Row] = [
        Row(
            "adxl345", "accel_x", ["in_accel_x_raw": "256", "in_accel_scale": "0.038312"], 9.807872,
            .metresPerSquareSecond),
        Row(
            "lis3dh", "accel_z", ["in_accel_z_raw": "16380", "in_accel_z_scale": "0.000598"], 9.79524,
            .metresPerSquareSecond),
        Row(
            "mpu6050", "accel_z", ["in_accel_z_raw": "16384", "in_accel_scale": "0.000598"], 9.797632,
            .metresPerSquareSecond),
        Row(
            "mpu6050", "anglvel_x", ["in_anglvel_x_raw": "100", "in_anglvel_scale": "0.001064724"], 0.106472,
            .radiansPerSecond),
        Row(
            "mpu6050", "temp", ["in_temp_raw": "-3200", "in_temp_scale": "2.941176", "in_temp_offset": "12420"],
            27.117643, .celsius),
        Row(
            "hmc5883l", "magn_x", ["in_magn_x_raw": "-524", "in_magn_x_scale": "0.000917431"], -0.000048073384, .tesla),
        Row("as5600", "angl", ["in_angl_raw": "1024", "in_angl_scale": "0.001533981"], 1.570797, .radian),
        Row("vl53l0x", "distance", ["in_distance_raw": "432", "in_distance_scale": "0.001000"], 0.432, .metre),
        Row("adxl345", "accel_y", ["in_accel_y_raw": "256"], 256, .metresPerSquareSecond, .uncertain),
    ]

    static let light: [Row] = [
        Row("tsl2561", "illuminance0", ["in_illuminance0_input": "250"], 250, .lux),
        Row("tsl2591", "illuminance", ["in_illuminance_input": "250.5"], 250.5, .lux),
        Row(
            "bh1750", "illuminance", ["in_illuminance_raw": "300", "in_illuminance_scale": "0.833333"], 249.9999, .lux),
        Row("veml7700", "illuminance", ["in_illuminance_raw": "1000", "in_illuminance_scale": "0.057600"], 57.6, .lux),
        Row("shared", "illuminance0", ["in_illuminance0_raw": "1000", "in_scale": "0.25"], 250, .lux),
        Row("shared", "illuminance1", ["in_illuminance1_raw": "1000", "scale": "0.25", "offset": "-200"], 200, .lux),
        Row("bh1750", "illuminance", ["in_illuminance_raw": "300"], 300, .lux, .uncertain),
        // Types without a unit need no scale, but have it if there is one.
        Row("tsl2561", "intensity_both", ["in_intensity_both_raw": "1200"], 1200, .count),
        Row("apds9960", "proximity", ["in_proximity_raw": "30"], 30, .count),
        Row("apds9960", "intensity_clear", ["in_intensity_clear_raw": "30", "in_intensity_scale": "4"], 120, .count),
        Row("si1145", "uvindex", ["in_uvindex_raw": "312", "in_uvindex_scale": "0.010000"], 3.12, .count),
        Row("si1145", "uvindex", ["in_uvindex_raw": "312"], 312, .count, .uncertain),
    ]

    static let monitors: [Row] = [
        Row("sht3x", "temp1", ["temp1_input": "21340"], 21.34, .celsius),
        Row("sht4x", "humidity1", ["humidity1_input": "45215"], 45.215, .relativeHumidity),
        Row("ina219", "in1", ["in1_input": "5012"], 5.012, .volt),
        Row("ina219", "curr1", ["curr1_input": "-420"], -0.42, .ampere),
        Row("ina219", "power1", ["power1_input": "2100000"], 2.1, .watt),
        Row("tmp102", "temp1", ["temp1_input": "-1500"], -1.5, .celsius),
        Row("jc42", "temp1", ["temp1_input": "21250"], 21.25, .celsius),
        Row("pwmfan", "fan1", ["fan1_input": "2940"], 2940, .perMinute),
        Row("rpi_volt", "in0_lcrit_alarm", ["in0_lcrit_alarm": "1"], 1, .count),
        Row("lm75", "temp1_max_alarm", ["temp1_input": "21250", "temp1_max_alarm": "0"], 0, .count),
        Row("lm75", "temp1_max", ["temp1_input": "21250", "temp1_max": "80000"], 80, .celsius),
        Row("max31790", "fan2_fault", ["fan2_fault": "1"], 1, .count),
        Row("ina226", "power1_average", ["power1_average": "2100000"], 2.1, .watt),
    ]

    @Test("a raw number without a scale is good where the definition asks for the count, or has the scale itself")
    func asked() throws {
        let device = "/sys/bus/iio/devices/iio:device0"
        let tree = try FakeTree(["\(device)/name": "mcp3008\n", "\(device)/in_voltage0_raw": "512\n"])
        func read(_ unit: SenMLUnit, scale: Double = 1) throws -> SensorValue {
            let definition = SensorDefinition(
                name: "s", source: .iio(devices: ["mcp3008"], channel: "voltage0", bus: nil), unit: unit, scale: scale)
            var probe = SensorProbe(definition, on: tree.machine)
            return try probe.read()
        }
        #expect(try read(.count) == SensorValue(value: 512, quality: .good))
        #expect(try read(.volt, scale: 0.003) == SensorValue(value: 1.536, quality: .good))
        #expect(try read(.volt).quality == .uncertain)
    }
}
