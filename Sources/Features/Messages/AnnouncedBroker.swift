import AgentCore
import Gateway
import Groundwork

extension GatewayConfiguration {
    /// The broker's port as the document announces it in `mas.mqtt-port`.
    ///
    /// In the protocol the broker is beside the gateway on port 8883 (MAG 9.1), with no key for another port; this key
    /// is our own.
    package var announcedBrokerPort: Int? {
        let document = try? JSON(parsing: bytes)
        return document?["mas"]?["mqtt-port"]?.integer.flatMap { (1...65_535).contains($0) ? Int($0) : nil }
    }
}
