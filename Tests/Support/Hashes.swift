import Cryptography
import Foundation
import Groundwork

/// SHA-256 of the data, in hexadecimal.
package func sha256(of data: Data) -> String { Hex.encode(SHA256.hash(Array(data))) }

/// The pin of the key in a certificate in PEM, in hexadecimal.
package func keyPin(inPEM text: String) throws -> String {
    Hex.encode(PublicKeyPin(of: try Certificate(pem: text).publicKey).sha256)
}
