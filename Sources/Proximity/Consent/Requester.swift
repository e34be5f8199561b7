import Groundwork

/// The device that asks to be authorized. Its name is its own unverified claim.
public struct Requester: Sendable, Hashable, CustomStringConvertible {
    /// The way by which its request came.
    public enum Way: String, Sendable { case ble, qr }

    public let name: String?
    /// Its Bluetooth address; phones change it every quarter of an hour.
    public let address: String?
    public let way: Way

    public init(name: String?, address: String?, way: Way) {
        let name = name.map(DisplayText.clean)
        self.name = name?.isEmpty == false ? name : nil
        self.address = address
        self.way = way
    }

    public var description: String {
        let name = name.map { "“\($0)”" } ?? "a device without a name"
        return name + (address.map { " (\($0))" } ?? (way == .qr ? " (QR code)" : ""))
    }

    /// The key that distinguishes requesters.
    var key: String { address ?? "\(way.rawValue) \(name ?? "")" }

    var details: [String: JSON] {
        [
            "name": name.map(JSON.string) ?? .null, "address": address.map(JSON.string) ?? .null,
            "way": .string(way.rawValue),
        ]
    }
}
