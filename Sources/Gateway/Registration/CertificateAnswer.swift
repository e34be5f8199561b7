import Cryptography
import HTTPClient

/// Parses the gateway's answer to a registration or a renewal (MAG 4.4, 4.6). Pure.
enum CertificateAnswer {
    /// The maximum number of certificates in a chain.
    static let chainLimit = 10
    /// The maximum number of characters of a `mag-identifier`.
    static let identifierLimit = 256

    /// What the gateway grants by a registration.
    struct Granted: Equatable {
        let chain: [Certificate]
        let magIdentifier: String
        let isActive: Bool
    }

    /// - Throws: why the answer cannot be used (MAG checklist 14).
    static func registration(_ response: HTTPResponse, for key: PublicKey) throws(AnswerFault) -> Granted {
        let statuses = response.headers.all("device-status")
        guard statuses.count == 1 else { throw AnswerFault("it has \(statuses.count) device-status headers, not one") }
        let status = statuses[0].lowercased()
        guard status == "activated" || status == "registered" else {
            throw AnswerFault("its device-status is neither activated nor registered")
        }
        let identifiers = response.headers.all("mag-identifier")
        guard identifiers.count == 1 else {
            throw AnswerFault("it has \(identifiers.count) mag-identifier headers, not one")
        }
        guard HTTPHeaders.isPlainValue(identifiers[0]), identifiers[0].utf8.count <= identifierLimit else {
            throw AnswerFault("its mag-identifier is empty, too long or not printable")
        }
        return Granted(
            chain: try chain(response.body, for: key), magIdentifier: identifiers[0], isActive: status == "activated")
    }

    /// The id_token, not validated yet, that the answer to a registration with a session must contain.
    static func session(_ response: HTTPResponse) throws(AnswerFault) -> (value: SecretBytes, type: String) {
        let (values, types) = (response.headers.all("id-token"), response.headers.all("id-token-type"))
        guard values.count == 1, types.count == 1 else {
            throw AnswerFault("it has not one id-token and one id-token-type")
        }
        guard HTTPHeaders.isPlainValue(values[0]), HTTPHeaders.isPlainValue(types[0]) else {
            throw AnswerFault("its id-token is not printable")
        }
        return (SecretBytes(utf8: values[0]), types[0])
    }

    /// The certificate in a PEM body, and the optional chain after it.
    static func chain(_ body: [UInt8], for key: PublicKey) throws(AnswerFault) -> [Certificate] {
        let chain: [Certificate]
        do throws(CryptographyError) {
            chain = try Certificate.some(inFile: body)
        } catch {
            throw AnswerFault("it contains no certificate: \(error.reason)")
        }
        let leaf = chain[0]
        guard chain.count <= chainLimit else { throw AnswerFault("it contains \(chain.count) certificates") }
        guard leaf.publicKey == key else { throw AnswerFault("its certificate is for another key") }
        return chain
    }
}
