import Cryptography
import Groundwork

/// An enrollment URL taken apart (gateway protocol 2). Pure: nothing is sent.
struct EnrollmentURL: Equatable {
    /// Exactly as given; this is what is requested.
    let text: String
    let host: String
    let port: Int
    let pin: PublicKeyPin

    init(_ text: String) throws(GatewayError) {
        guard text.lowercased().hasPrefix("https://") else { throw .enrollmentURLInvalid(reason: "it must start with https://") }
        let target: CallTarget
        do {
            target = try CallTarget.absolute(text)
        } catch {
            guard case .pathInvalid(let reason) = error else { throw error }
            throw .enrollmentURLInvalid(reason: reason)
        }
        guard let hash = Self.keyHash(in: text), !hash.isEmpty else { throw .enrollmentURLWithoutKeyHash }
        guard let decoded = Self.percentDecoded(hash), let pin = PublicKeyPin(decoded) else {
            throw .enrollmentKeyHashInvalid
        }
        self.text = text
        self.pin = pin
        host = target.host
        port = target.port
    }

    /// Whether the host is written as an IPv4 address. The pin alone then proves the server: certificates of gateways
    /// rarely name their address (2).
    var isAddress: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The first parameter of that name (quirk Q6).
    private static func keyHash(in text: String) -> Substring? {
        guard let mark = text.firstIndex(of: "?") else { return nil }
        for pair in text[text.index(after: mark)...].split(whereSeparator: { $0 == "&" || $0 == "?" }) {
            let name = pair.prefix { $0 != "=" }
            if name == "subjectKeyHash" { return pair.dropFirst(name.count + 1) }
        }
        return nil
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else { bytes.append(byte); continue }
            guard rest.count >= 2, let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) else { return nil }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
