/// Which transport is used, and which adapter, as the settings say.
public struct BluetoothChoice: Sendable, Equatable {
    public enum Preference: String, Sendable, CaseIterable {
        /// bluetoothd where it answers on the system bus, else the kernel.
        case auto
        case bluez
        case kernel
    }

    public var preference: Preference
    /// Empty for the first, else such as `hci1`, or an address.
    public var adapter: String
    /// Whether others are shown addresses that change. Of bluetoothd, that is its own setting: `Privacy` in `main.conf`.
    public var isPrivate: Bool

    public init(preference: Preference = .auto, adapter: String = "", isPrivate: Bool = false) {
        self.preference = preference
        self.adapter = adapter
        self.isPrivate = isPrivate
    }

    /// Nothing is powered or claimed by it: whether the adapter can be used is in ``BluetoothTransport/status()``.
    public func makeTransport() async -> any BluetoothTransport {
        if preference == .kernel { return KernelTransport(adapter: adapter, isPrivate: isPrivate) }
        let bluez = BlueZTransport(adapter: adapter)
        // bluetoothd has the ATT channel where it runs, whatever it lacks: only its absence leaves room for the kernel's.
        guard preference == .auto, await bluez.status().fault == .daemonMissing else { return bluez }
        await bluez.close()
        return KernelTransport(adapter: adapter, isPrivate: isPrivate)
    }
}
