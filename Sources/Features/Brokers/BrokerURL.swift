import Groundwork
import HTTPClient
import Messaging

/// The address of a broker as people write it: `mqtts://broker.example:8883`, or `wss://broker.example/mqtt`. Pure.
package struct BrokerURL: Equatable {
    package let address: BrokerAddress
    /// Whether it is reached with TLS.
    package let isProtected: Bool

    /// Where most brokers have MQTT over WebSocket.
    private static let presetPath = "/mqtt"

    /// - Returns: `nil` for anything else, and for a user or a password in it, which others could read.
    package init?(_ text: String) {
        guard text.utf8.count <= 512, let end = text.firstRange(of: "://") else { return nil }
        var (number, isWebSocket) = (0, false)
        switch text[..<end.lowerBound].lowercased() {
        case "mqtts", "ssl", "tls": (isProtected, number) = (true, BrokerAddress.standardPort)
        case "mqtt", "tcp": (isProtected, number) = (false, BrokerAddress.plainPort)
        case "wss": (isProtected, number, isWebSocket) = (true, 443, true)
        case "ws": (isProtected, number, isWebSocket) = (false, 80, true)
        default: return nil
        }
        let rest = text[end.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        let path = String(rest.dropFirst(authority.count))
        guard isWebSocket ? path.isEmpty || BrokerAddress.isWebSocketPath(path) : ["", "/"].contains(path) else {
            return nil
        }
        let (host, port) = HostName.split(authority)
        guard HostName.isValid(host) else { return nil }
        if let port {
            guard let given = UInt16(port), given > 0, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            number = Int(given)
        }
        address = BrokerAddress(
            host: host, port: number, webSocketPath: isWebSocket ? (path.isEmpty ? Self.presetPath : path) : nil)
    }
}
