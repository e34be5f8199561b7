import AgentCore
import Bluetooth
import Groundwork
import Proximity

/// What is found of Bluetooth, and of what consent is given with.
package struct NearbyFindings: Sendable {
    /// `nil` if no setting needs Bluetooth and there is no adapter.
    package var adapter: AdapterStatus?
    package var sharing = ProximitySettings.Share.never
    /// Whether only bonded devices may ask to be let in.
    package var requiresEncryption = false
    /// Whether bluetoothd lets a bonded device that connects to this board become its keyboard.
    package var takesKeyboards = false
    package var hasButton = false
    package var buttonFault: ButtonFault?
}

extension AgentState {
    package var nearby: NearbyFindings {
        get { self[NearbyFindings.self, default: NearbyFindings()] }
        set { self[NearbyFindings.self, default: NearbyFindings()] = newValue }
    }
}
