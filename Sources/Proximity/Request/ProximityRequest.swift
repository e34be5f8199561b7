import Groundwork

/// The request that the device that wants to log in writes to the logged-in device (MAG 8.2).
public struct ProximityRequest: Sendable, Equatable {
    /// The gateway's `auth_url`, verbatim.
    public let providerURL: String
    /// The requester's own name, unverified; cleaned for display.
    public let deviceName: String?

    /// The maximum length of a URL, in bytes.
    public static let longestURL = 2048
    /// The write that ends a request.
    static let endMark = Array("EOM".utf8)

    /// - Parameter providerURL: a URL in visible ASCII.
    /// - Returns: `nil` if the URL is empty, too long, or has other characters.
    public init?(providerURL: String, deviceName: String?) {
        guard (1...Self.longestURL).contains(providerURL.utf8.count),
            providerURL.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.providerURL = providerURL
        let name = deviceName.map(DisplayText.clean)
        self.deviceName = name?.isEmpty == false ? name : nil
    }

    /// Parses the bytes between two end marks.
    ///
    /// - Throws: ``ProximityError/requestRefused(_:)``
    public init(parsing bytes: [UInt8]) throws(ProximityError) {
        guard bytes.count <= RequestCollector.limit else { throw .requestRefused(.tooLong) }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .requestRefused(.notUTF8) }
        guard let document = try? JSON(parsing: bytes, limit: RequestCollector.limit), document.object != nil else {
            throw .requestRefused(.notJSON)
        }
        guard let url = document["provider_url"]?.string,
            let request = ProximityRequest(providerURL: url, deviceName: document["device_name"]?.string)
        else { throw .requestRefused(.withoutURL) }
        self = request
    }

    /// The document to send. It is pure ASCII because some receivers decode each piece as separate text (MAG 8.2), and
    /// does not contain `EOM`, so that no piece, however it is cut, ends the message early.
    var document: [UInt8] {
        var bytes = Array("{\"provider_url\":".utf8)
        Self.write(providerURL, to: &bytes)
        if let deviceName {
            bytes += ",\"device_name\":".utf8
            Self.write(deviceName, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The values to write: pieces of at most `size` bytes, then the end mark.
    ///
    /// - Parameter size: every connection supports 20.
    public func pieces(of size: Int = 20) -> [[UInt8]] {
        let size = max(size, 1)
        let document = document
        return stride(from: 0, to: document.count, by: size).map {
            Array(document[$0..<min($0 + size, document.count)])
        }
            + [Self.endMark]
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: bytes += [0x5C, UInt8(unit)]
            case 0x4D where bytes.suffix(2).elementsEqual("EO".utf8): escape(unit, to: &bytes)
            case 0x20..<0x7F: bytes.append(UInt8(unit))
            default: escape(unit, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
        bytes += "\\u".utf8
        bytes += Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]).utf8
    }
}
