import Bluetooth
import Foundation
import Groundwork
import Proximity

extension ManualClock: ProximityClock {
    package var date: Date { Date(timeIntervalSince1970: 1_900_000_000) }

    /// Moves on, once somebody sleeps until exactly then.
    package func advance(by duration: Duration) async { move(to: await sleeper(until: now + duration)) }
}

package let service = BluetoothUUID("980c2f36-bde3-11e4-8dfc-aa07a5b093db")!
package let characteristic = BluetoothUUID("980c34cc-bde3-11e4-8dfc-aa07a5b093db")!
package let ownURL = "https://gw.lab.test:8443/auth/device/authorization/7b3f00aa7b3f00aa7b3f00aa7b3f00aa"

package func address(_ number: UInt8) -> BluetoothAddress {
    BluetoothAddress("C0:FF:EE:00:00:\(Hex.encode([number]))", kind: .random)!
}

package func central(_ number: UInt8) -> CentralID { CentralID(address: address(number), number: Int(number)) }

package func pieces(_ url: String = ownURL, name: String? = "Pixel") -> [[UInt8]] {
    ProximityRequest(providerURL: url, deviceName: name)!.pieces()
}
