/// Converts `Flags` of `GattCharacteristic1` in both directions.
enum BlueZFlags {
    /// A central that writes or enables notifications over an unencrypted connection is told to encrypt first.
    static func flags(of characteristic: LocalCharacteristic) -> [String] {
        let properties = characteristic.properties
        var flags: [String] = []
        if properties.contains(.broadcast) { flags.append("broadcast") }
        if properties.contains(.read) { flags.append(characteristic.requiresEncryption ? "encrypt-read" : "read") }
        if properties.contains(.writeWithoutResponse) { flags.append("write-without-response") }
        if properties.contains(.write) { flags.append("write") }
        if properties.contains(.notify) {
            flags.append(characteristic.requiresEncryption ? "encrypt-notify" : "notify")
        }
        if properties.contains(.indicate) {
            flags.append(characteristic.requiresEncryption ? "encrypt-indicate" : "indicate")
        }
        // This adds the property "write" too: bluetoothd cannot require encryption without it.
        if characteristic.requiresEncryption, !properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
            flags.append("encrypt-write")
        }
        return flags
    }

    static func properties(of flags: [String]) -> CharacteristicProperties {
        var properties: CharacteristicProperties = []
        for flag in flags {
            switch flag {
            case "broadcast": properties.insert(.broadcast)
            case "read": properties.insert(.read)
            case "write-without-response": properties.insert(.writeWithoutResponse)
            case "write": properties.insert(.write)
            case "notify": properties.insert(.notify)
            case "indicate": properties.insert(.indicate)
            default: break
            }
        }
        return properties
    }
}
