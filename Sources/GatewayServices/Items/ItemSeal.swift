public import Cryptography
import Groundwork

/// Seals values before they leave for the gateway's storage, and opens them again: AES-256-GCM, as the public clients
/// have it for their local storage (MAG 11.2), bound to the place of the value.
///
/// A sealed value is text, which every client of the storage can keep: `latchkey-sealed-1`, the name of the key, and in
/// base64 nonce, cipher text and tag, with dots between. Inside are the length of the value's type in one byte, the
/// type, and the value. Pure, but for the nonce.
public struct ItemSeal: Sendable {
    /// Where a value is, which the seal binds it to.
    struct Place: Sendable, Equatable {
        let segment: ItemSegment
        /// `nil` for the application's.
        let user: String?
        let key: String

        /// A user's name and a key can contain anything, and so stand in hexadecimal.
        fileprivate var label: [UInt8] {
            let parts = [user.map { "user " + Hex.encode(Array($0.utf8)) } ?? "", Hex.encode(Array(key.utf8))]
            return Array((["latchkey cloud item 1", segment.rawValue] + parts).joined(separator: "\n").utf8)
        }
    }

    /// The media type under which sealed values are stored.
    static let type = "text/vnd.latchkey.sealed"
    private static let mark = "latchkey-sealed-1."

    private let secret: SecretBytes
    /// Which key it is; says nothing about the key itself.
    private let name: String

    /// - Parameter secret: ``AESGCM/keyBytes`` random bytes.
    public init(_ secret: SecretBytes) {
        self.secret = secret
        name = Hex.encode(HMAC.sha256(key: secret, Array("latchkey name of an item key".utf8)).prefix(8))
    }

    /// Whether a value is a sealed one, by whatever key.
    static func isSealed(_ value: [UInt8]) -> Bool { value.starts(with: mark.utf8) }

    /// - Parameter type: at most 255 bytes.
    func seal(_ value: [UInt8], type: String, at place: Place) throws(CryptographyError) -> [UInt8] {
        var content = [UInt8(type.utf8.count)] + Array(type.utf8) + value
        defer { wipe(&content) }
        let sealed = try AESGCM.seal(SecretBytes(content), key: secret, authenticating: place.label)
        return Array((Self.mark + name + "." + Base64.encode(sealed)).utf8)
    }

    /// - Parameter sealed: what ``isSealed(_:)`` is true of.
    /// - Throws: ``ItemError/sealedElsewhere(key:)``, ``ItemError/sealBroken(key:)``
    func open(_ sealed: [UInt8], at place: Place) throws(ItemError) -> (type: String, value: [UInt8]) {
        let parts = String(decoding: sealed.dropFirst(Self.mark.utf8.count), as: UTF8.self)
            .split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64.decode(String(parts[1])) else {
            throw .sealBroken(key: place.key)
        }
        guard parts[0] == name else { throw .sealedElsewhere(key: place.key) }
        guard let opened = try? AESGCM.open(bytes, key: secret, authenticating: place.label) else {
            throw .sealBroken(key: place.key)
        }
        var content = opened.exposed()
        defer { wipe(&content) }
        let length = Int(content.first ?? 0)
        guard content.count > length else { throw .sealBroken(key: place.key) }
        return (String(decoding: content[1...length], as: UTF8.self), Array(content.dropFirst(1 + length)))
    }
}
