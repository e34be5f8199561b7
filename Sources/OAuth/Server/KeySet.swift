import Cryptography
import Groundwork
import HTTPClient

/// The signing keys that a server publishes (RFC 7517). Pure.
public struct KeySet: Sendable {
    /// The most keys that are read.
    public static let limit = 64

    private let keys: [String: PublicKey]

    /// Keeps the RSA keys that have an id, a modulus and an exponent; all others are ignored (RFC 7517 section 5).
    ///
    /// - Throws: `AnswerFault` when the document is not a set of keys.
    public init(_ body: [UInt8]) throws(AnswerFault) {
        guard let elements = try JSONAnswer(body)["keys"]?.array else { throw AnswerFault("it has no list of keys") }
        var keys: [String: PublicKey] = [:]
        for element in elements.prefix(Self.limit) where element["kty"]?.string == "RSA" {
            guard let id = element["kid"]?.string, let modulus = Self.number(element["n"]),
                let exponent = Self.number(element["e"]),
                let key = try? PublicKey(rsaModulus: modulus, exponent: exponent)
            else { continue }
            keys[id] = key
        }
        self.keys = keys
    }

    /// The key with this id (`kid`); the last one if there are several.
    public subscript(id: String) -> PublicKey? { keys[id] }

    private static func number(_ value: JSON?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 4096 else { return nil }
        return Base64.decode(text, alphabet: .urlSafe)
    }
}
