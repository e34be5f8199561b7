/// The transport and the adapter chosen in the settings.
public struct BluetoothChoice: Sendable, Equatable {
    public enum Preference: String, Sendable, CaseIterable {
        /// bluetoothd if it answers on the system bus, otherwise the kernel.
        case auto
        case bluez
        case kernel
    }

    public var preference: Preference
    /// Empty for the first, or a name such as `hci1`, or an address.
    public var adapter: String
    /// Whether other devices see changing addresses. Ignored with bluetoothd, which has its own setting: `Privacy` in
    /// `main.conf`.
    public var isPrivate: Bool

    public init(preference: Preference = .auto, adapter: String = "", isPrivate: Bool = false) {
        self.preference = preference
        self.adapter = adapter
        self.isPrivate = isPrivate
    }

    /// Powers and claims nothing: whether the adapter can be used is in ``BluetoothTransport/status()``.
    public func makeTransport() async -> any BluetoothTransport {
        if preference == .kernel { return KernelTransport(adapter: adapter, isPrivate: isPrivate) }
        let bluez = BlueZTransport(adapter: adapter)
        // A running bluetoothd occupies the ATT channel, whatever its state: the kernel's transport only works
        // without it.
        guard preference == .auto, await bluez.status().fault == .daemonMissing else { return bluez }
        await bluez.close()
        return KernelTransport(adapter: adapter, isPrivate: isPrivate)
    }
}
