import Groundwork
import HTTPClient
import Messaging

/// The address of a broker as people write it: `mqtts://broker.example:8883`. Pure.
package struct BrokerURL: Equatable {
    package let address: BrokerAddress
    /// Whether it is reached with TLS.
    package let isProtected: Bool

    /// - Returns: `nil` for anything else, and for a user or a password in it, which others could read.
    package init?(_ text: String) {
        guard text.utf8.count <= 512, let end = text.firstRange(of: "://") else { return nil }
        switch text[..<end.lowerBound].lowercased() {
        case "mqtts", "ssl", "tls": isProtected = true
        case "mqtt", "tcp": isProtected = false
        default: return nil
        }
        var authority = text[end.upperBound...]
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        let (host, port) = HostName.split(authority)
        guard HostName.isValid(host) else { return nil }
        var number = isProtected ? BrokerAddress.standardPort : BrokerAddress.plainPort
        if let port {
            guard let given = UInt16(port), given > 0, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            number = Int(given)
        }
        address = BrokerAddress(host: host, port: number)
    }
}
