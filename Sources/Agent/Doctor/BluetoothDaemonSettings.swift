import Groundwork

/// What bluetoothd's own settings say of devices that connect to this board (`main.conf` of BlueZ 5.66). Pure, but for ``read(_:)``.
struct BluetoothDaemonSettings: Equatable {
    /// Whether it reads the services of a device that has connected to this board, and uses them.
    var looksAtCentrals = true

    init(_ text: String) {
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.filter { $0 != " " && $0 != "\t" }.lowercased()
            if line.hasPrefix("[") { section = line }
            if section == "[general]", line == "reverseservicediscovery=false" {
                looksAtCentrals = false
            }
        }
    }

    /// The presets, where the file cannot be read.
    static func read(_ path: String = "/etc/bluetooth/main.conf") -> BluetoothDaemonSettings {
        Self(String(decoding: (try? BoundedFile.read(path, limit: 1 << 16)) ?? [], as: UTF8.self))
    }
}
