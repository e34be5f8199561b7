/// The transport and the adapter chosen in the settings.
public struct BluetoothChoice: Sendable, Equatable {
    public enum Preference: String, Sendable, CaseIterable {
        /// bluetoothd while it answers on the system bus, otherwise the kernel.
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
    public func makeTransport() -> any BluetoothTransport {
        let bluez = BlueZTransport(adapter: adapter)
        switch preference {
        case .bluez: return bluez
        case .kernel: return KernelTransport(adapter: adapter, isPrivate: isPrivate)
        case .auto:
            return AutomaticTransport(
                daemon: bluez, kernel: KernelTransport(adapter: adapter, isPrivate: isPrivate)
            ) { bluez.presence() }
        }
    }
}
