import Groundwork
import Testing

@testable import Board

@Suite("GPIO chip by its device")
struct GPIOChipTests {
    @Test("a GPIO chip is told from another with its label by the path of its device, whatever its number")
    func device() throws {
        let bus = "/sys/devices/platform/soc/fe804000.i2c/i2c-1"
        let tree = try FakeTree([
            "\(bus)/1-0020/gpiochip4/label": "mcp23017\n", "\(bus)/1-0021/gpiochip5/label": "mcp23017\n",
            "/sys/bus/gpio/devices/x": "", "/sys/bus/i2c/devices/x": "",
        ])
        try tree.link("/sys/bus/gpio/devices/gpiochip4", to: "\(bus)/1-0020/gpiochip4")
        try tree.link("/sys/bus/gpio/devices/gpiochip5", to: "\(bus)/1-0021/gpiochip5")
        try tree.link("/sys/bus/i2c/devices/1-0021", to: "\(bus)/1-0021")
        for device in ["\(bus)/1-0021", "/sys/bus/i2c/devices/1-0021", "\(bus)/1-0021/gpiochip5"] {
            let chips = ["gpiochip4", "gpiochip5", "gpiochip6"].filter { GPIOChip.isOf(device, $0, on: tree.machine) }
            #expect(chips == ["gpiochip5"])
        }
        for device in [bus, "/sys/devices/nowhere", "/"] {
            #expect(!GPIOChip.isOf(device, "gpiochip5", on: tree.machine))
        }
    }

    @Test("a GPIO chip that is not there is named as the definition has it")
    func absent() {
        let labeled = BoardError.chipAbsent(label: "mcp23017", present: [])
        #expect(labeled.message == "no GPIO chip is labeled mcp23017, and there are no GPIO chips at all")
        let device = BoardError.chipAbsent(label: "/sys/bus/i2c/devices/1-0021", present: ["pinctrl-bcm2711"])
        #expect(device.message == "no GPIO chip is of the device /sys/bus/i2c/devices/1-0021; present: pinctrl-bcm2711")
    }
}
