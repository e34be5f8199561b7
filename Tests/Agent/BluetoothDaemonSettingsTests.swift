import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby

@Suite("Settings of bluetoothd")
struct BluetoothDaemonSettingsTests {
    private func looks(_ text: String) -> Bool {
        var settings = BluetoothDaemonSettings()
        settings.apply(text)
        return settings.looksAtCentrals
    }

    @Test("bluetoothd is taken to look at what devices offer, unless its file says otherwise as GLib reads it")
    func file() {
        #expect(looks(""))
        #expect(looks("[General]\n#ReverseServiceDiscovery = false\n"))
        #expect(!looks("[General]\n  ReverseServiceDiscovery =  false \n[GATT]\n"))
        #expect(!looks("[General]\r\nReverseServiceDiscovery=0\r\n"))
        #expect(
            !looks("[Policy]\nAutoEnable=false\n[General]\nReverseServiceDiscovery=true\nReverseServiceDiscovery=false")
        )
        #expect(looks("[General]\nReverseServiceDiscovery=false\nReverseServiceDiscovery=true"))
    }

    @Test(
        "lines that bluetoothd would ignore do not change what is read of its settings",
        arguments: [
            "[general]\nReverseServiceDiscovery=false", "[General]\nreverseservicediscovery=false",
            "ReverseServiceDiscovery=false",
            "[GATT]\nReverseServiceDiscovery=false", "[General]\nReverseServiceDiscovery=False",
            "[General]\nReverseServiceDiscovery=no",
            "[General]\nReverseServiceDiscovery=false # for now",
            "[General]\nReverseServiceDiscovery=false\nthis breaks it",
            "[General]\nReverse Service Discovery=false",
        ])
    func notTaken(text: String) {
        #expect(looks(text))
    }

    @Test(
        "bluetoothd is taken to accept input devices, unless its command line leaves out the plugin",
        arguments: [
            ([], true), (["-n", "-d"], true), (["--noplugin", "input,hog"], false), (["--noplugin=hog"], false),
            (["-P", "hog"], false),
            (["-Phog"], false), (["-nP", "input, hog"], false), (["-d", "-P", "h*"], false), (["-P", "*"], false),
            (["-P", "input"], true),
            (["-P", "hog", "--noplugin=input"], true), (["-P"], true), (["--", "-P", "hog"], true),
            (["-dP", "hog"], true),
            (["-P", "[h]og"], true), (["-p", "gap,deviceinfo"], false), (["--plugin=hog"], true), (["hog"], true),
            (["-f", "-P", "hog"], true),
        ])
    func arguments(_ arguments: [String], takesInput: Bool) {
        #expect(BluetoothDaemonSettings(arguments: arguments).takesInput == takesInput)
    }

    @Test("bluetoothd's settings are read from the file that its command line names")
    func path() {
        #expect(BluetoothDaemonSettings().file == "/etc/bluetooth/main.conf")
        #expect(BluetoothDaemonSettings(arguments: ["-n", "-f", "/run/bluetooth.conf"]).file == "/run/bluetooth.conf")
        #expect(BluetoothDaemonSettings(arguments: ["--configfile=/run/a"]).file == "/run/a")
    }
}
