import Cryptography
import Groundwork
import HTTPClient

/// The signing keys that a server publishes (RFC 7517). Pure.
public struct KeySet: Sendable {
    /// The most keys that are read.
    public static let limit = 64

    private let keys: [(id: String?, key: PublicKey)]

    /// Keeps the keys of RSA, P-256, P-384, P-521 and Ed25519 that are complete; all others are ignored (RFC 7517
    /// section 5).
    ///
    /// - Throws: `AnswerFault` when the document is not a set of keys.
    public init(_ body: [UInt8]) throws(AnswerFault) {
        guard let elements = try JSONAnswer(body)["keys"]?.array else { throw AnswerFault("it has no list of keys") }
        keys = elements.prefix(Self.limit).filter { ($0["use"]?.string ?? "sig") == "sig" }
            .compactMap { element in Self.key(element).map { (element["kid"]?.string, $0) } }
    }

    private static func key(_ element: JSON) -> PublicKey? {
        switch element["kty"]?.string {
        case "RSA":
            guard let modulus = number(element["n"]), let exponent = number(element["e"]) else { return nil }
            return try? PublicKey(rsaModulus: modulus, exponent: exponent)
        case "EC":
            guard let (head, size) = element["crv"]?.string.flatMap({ JSONWebKey.curves[$0] }),
                let x = number(element["x"]), let y = number(element["y"]), x.count == size, y.count == size
            else { return nil }
            return try? PublicKey(spki: head + x + y)
        case "OKP" where element["crv"]?.string == "Ed25519":
            guard let x = number(element["x"]), x.count == 32 else { return nil }
            return try? PublicKey(spki: JSONWebKey.ed25519Head + x)
        default: return nil
        }
    }

    /// The key with this id (`kid`); the last one if there are several.
    public subscript(id: String) -> PublicKey? { keys.last { $0.id == id }?.key }

    /// The keys that may have signed a token.
    ///
    /// - Parameter id: the token's `kid`; without one, which is optional (RFC 7515 section 4.1.4), any key may be
    ///   meant. Several may have one id (RFC 7517 section 4.5).
    public func candidates(of id: String?) -> [PublicKey] {
        keys.filter { id == nil || $0.id == id }.map(\.key)
    }

    private static func number(_ value: JSON?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 4096 else { return nil }
        return Base64.decode(text, alphabet: .urlSafe)
    }
}
