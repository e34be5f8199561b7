import Cryptography
import Groundwork
import HTTPClient

/// The parts of an enrollment URL (MAG 2). Pure: nothing is sent.
struct EnrollmentURL: Equatable {
    /// The URL to request, exactly as given.
    let text: String
    let host: String
    let port: Int
    let pin: PublicKeyPin

    init(_ text: String) throws(GatewayError) {
        guard text.lowercased().hasPrefix("https://") else {
            throw .enrollmentURLInvalid(reason: "it must start with https://")
        }
        let target: HTTPSAddress
        do {
            target = try HTTPSAddress(text)
        } catch {
            throw .enrollmentURLInvalid(reason: error.reason)
        }
        guard let hash = Self.keyHash(in: text), !hash.isEmpty else { throw .enrollmentURLWithoutKeyHash }
        guard let decoded = PercentEncoding.decode(hash.utf8),
            let pin = PublicKeyPin(String(decoding: decoded, as: UTF8.self))
        else { throw .enrollmentKeyHashInvalid }
        self.text = text
        self.pin = pin
        host = target.host
        port = target.port
    }

    /// Whether the path is one of this gateway's. Of one without a prefix that is certain only of `/connect/`, as another
    /// path may begin with another gateway's prefix (MAG 1.2).
    func isBelow(_ gateway: GatewayIdentity) -> Bool {
        guard host.lowercased() == gateway.host, port == gateway.port else { return false }
        let path = text.dropFirst("https://".count).drop { $0 != "/" }
        return path.hasPrefix(gateway.prefix.isEmpty ? "/connect/" : "/\(gateway.prefix)/")
    }

    /// Whether the host is written as an IP address. Then only the pin verifies the server: certificates of gateways
    /// rarely contain their address (MAG 2).
    var isAddress: Bool { HostName.isAddress(host) }

    /// The first parameter of that name (MAG quirk Q6).
    private static func keyHash(in text: String) -> Substring? {
        guard let mark = text.firstIndex(of: "?") else { return nil }
        for pair in text[text.index(after: mark)...].split(whereSeparator: { $0 == "&" || $0 == "?" }) {
            let name = pair.prefix { $0 != "=" }
            if name == "subjectKeyHash" { return pair.dropFirst(name.count + 1) }
        }
        return nil
    }
}
