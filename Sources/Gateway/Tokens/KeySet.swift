import Cryptography
import Groundwork
import HTTPClient

/// The gateway's published signing keys (E18, RFC 7517). Pure.
struct KeySet: Sendable {
    /// The most keys that are looked at.
    static let limit = 64

    private let keys: [String: PublicKey]

    /// Takes the RSA keys that have an id, a modulus and an exponent; all others are left out.
    /// - Throws: when the document is none.
    init(_ body: [UInt8]) throws(AnswerFault) {
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

    subscript(id: String) -> PublicKey? { keys[id] }

    private static func number(_ value: JSON?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 4096 else { return nil }
        return Base64.decode(text, alphabet: .urlSafe)
    }
}
