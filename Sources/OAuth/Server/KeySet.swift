import Cryptography
import Groundwork
import HTTPClient

/// The signing keys that a server publishes (RFC 7517). Pure.
public struct KeySet: Sendable {
    /// The most keys that are read.
    public static let limit = 64

    private let keys: [String: PublicKey]

    /// The only key, if the server publishes a single one: a token then need not name it (RFC 7515 section 4.1.4).
    private let single: PublicKey?

    /// Keeps the RSA and P-256 keys that are complete; all others are ignored (RFC 7517 section 5).
    ///
    /// - Throws: `AnswerFault` when the document is not a set of keys.
    public init(_ body: [UInt8]) throws(AnswerFault) {
        guard let elements = try JSONAnswer(body)["keys"]?.array else { throw AnswerFault("it has no list of keys") }
        var keys: [String: PublicKey] = [:]
        var usable: [PublicKey] = []
        for element in elements.prefix(Self.limit) where (element["use"]?.string ?? "sig") == "sig" {
            guard let key = Self.key(element) else { continue }
            usable.append(key)
            if let id = element["kid"]?.string { keys[id] = key }
        }
        self.keys = keys
        single = usable.count == 1 ? usable[0] : nil
    }

    private static func key(_ element: JSON) -> PublicKey? {
        switch element["kty"]?.string {
        case "RSA":
            guard let modulus = number(element["n"]), let exponent = number(element["e"]) else { return nil }
            return try? PublicKey(rsaModulus: modulus, exponent: exponent)
        case "EC" where element["crv"]?.string == "P-256":
            guard let x = number(element["x"]), let y = number(element["y"]), x.count == 32, y.count == 32 else {
                return nil
            }
            return try? PublicKey(spki: JSONWebKey.p256Head + x + y)
        default: return nil
        }
    }

    /// The key with this id (`kid`); the last one if there are several.
    public subscript(id: String) -> PublicKey? { keys[id] }

    /// The key that signed a token.
    ///
    /// - Parameter id: the token's `kid`; without one, only a server's single key can be meant.
    public func key(of id: String?) -> PublicKey? { id.map { keys[$0] } ?? single }

    private static func number(_ value: JSON?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 4096 else { return nil }
        return Base64.decode(text, alphabet: .urlSafe)
    }
}
