import AgentCore
import Bluetooth
import Groundwork

/// The Bluetooth adapter for proximity login.
package struct BluetoothSettings: TypedValue {
    package init() {}

    package var transport = BluetoothChoice.Preference.auto
    /// Such as `hci1`, or an address; empty: the first one.
    package var adapter = ""
    /// Whether to use addresses that change (Bluetooth Core 5.4, Vol 3 Part C 10.7); only with the kernel's transport.
    package var isPrivate = false
}

/// How this board lets others log in with its user's session, and how it logs in with theirs.
package struct ProximitySettings: TypedValue {
    package init() {}

    package enum Share: String, Sendable, CaseIterable {
        /// Only on request, by `latchkey share`.
        case never
        /// Also for some minutes after each press of the button.
        case button
        /// For as long as a user is logged in.
        case always
    }

    package var share = Share.never
    /// How long sharing lasts after a press of the button.
    package var shareMinutes = 10
    /// How long a question waits for consent; then it is refused.
    package var consentSeconds = 30
    /// The most requests of one device per minute.
    package var requestsPerMinute = 6
    /// The weakest signal that is answered, in dBm; 0: the value of the gateway's configuration.
    package var leastSignal = 0
    /// Whether only bonded devices may ask, over an encrypted link. The reference clients never bond.
    package var requireEncryption = false
}

extension AgentConfiguration {
    package var bluetooth: BluetoothSettings {
        get { self[BluetoothSettings.self] }
        set { self[BluetoothSettings.self] = newValue }
    }
}

extension AgentConfiguration {
    package var proximity: ProximitySettings {
        get { self[ProximitySettings.self] }
        set { self[ProximitySettings.self] = newValue }
    }
}
