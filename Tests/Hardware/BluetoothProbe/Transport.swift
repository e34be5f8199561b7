import Bluetooth
import Glibc
import Groundwork

func makeTransport(_ name: String, adapter: String, isPrivate: Bool) async -> any BluetoothTransport {
    guard let preference = BluetoothChoice.Preference(rawValue: name) else {
        say("usage", ["text": "--transport is kernel, bluez or auto"])
        exit(64)
    }
    return BluetoothChoice(preference: preference, adapter: adapter, isPrivate: isPrivate).makeTransport()
}
