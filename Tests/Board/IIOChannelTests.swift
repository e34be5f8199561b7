import Testing

@testable import Board

@Suite("IIO channel")
struct IIOChannelTests {
    @Test(
        "an IIO channel has its scale in a file of its own, or one of its type, its direction or its device",
        arguments: [
            ("temp", ["in_temp_scale", "in_temp_scale", "in_scale", "scale"]),
            ("voltage2", ["in_voltage2_scale", "in_voltage_scale", "in_scale", "scale"]),
            ("accel_x", ["in_accel_x_scale", "in_accel_scale", "in_scale", "scale"]),
            ("temp_object", ["in_temp_object_scale", "in_temp_scale", "in_scale", "scale"]),
            ("voltage8_vccint", ["in_voltage8_vccint_scale", "in_voltage_scale", "in_scale", "scale"]),
            ("voltage8_aux-in", ["in_voltage8_aux-in_scale", "in_voltage_scale", "in_scale", "scale"]),
            (
                "concentration_co2",
                ["in_concentration_co2_scale", "in_concentration_scale", "in_scale", "scale"]
            ),
            (
                "voltage0-voltage1",
                ["in_voltage0-voltage1_scale", "in_voltage-voltage_scale", "in_scale", "scale"]
            ),
            (
                "velocity_sqrt(x^2+y^2+z^2)",
                ["in_velocity_sqrt(x^2+y^2+z^2)_scale", "in_velocity_scale", "in_scale", "scale"]
            ),
        ])
    func files(name: String, files: [String]) {
        #expect(IIOChannel(name).files(of: "scale") == files)
    }

    @Test("an IIO channel's type is all before its number, modifier or name")
    func type() {
        #expect(IIOChannel("electricalconductivity").type == "electricalconductivity")
        #expect(IIOChannel("voltage0-voltage1").type == "voltage")
        #expect(IIOChannel("massconcentration_pm2p5").type == "massconcentration")
        #expect(IIOChannel("").type == "")
    }

    @Test("an IIO channel is named by its files with values only")
    func names() {
        let files = ["in_accel_x_raw", "in_temp_input", "in_temp_scale", "out_voltage0_raw", "name"]
        #expect(files.compactMap(IIOChannel.name(ofFile:)) == ["accel_x", "temp"])
    }

    @Test("an IIO channel has no unit where the kernel has none that SenML has")
    func unknown() {
        for name in ["rot_quaternion", "timestamp", "chromaticity_x", "voltages0"] {
            #expect(IIOChannel(name).quantity == nil)
        }
    }
}
