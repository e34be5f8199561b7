import Cryptography
import Groundwork

/// The formats of certificates in documents: the lines of a PEM text as an array, one string with the whole PEM text,
/// or one string of base64 without PEM markers (MAG 1.1).
enum CertificateText {
    struct Fault: Error {
        let fault: String
    }

    /// - Returns: at least one certificate.
    static func certificates(_ element: JSON) throws(Fault) -> [Certificate] {
        let text: String
        switch element {
        case .string(let whole): text = whole
        case .array(let lines):
            let strings = lines.compactMap(\.string)
            guard strings.count == lines.count else { throw Fault(fault: "has lines that are not strings") }
            text = strings.joined(separator: "\n")
        default: throw Fault(fault: "is \(element.kind), not the lines of a certificate")
        }
        do throws(CryptographyError) {
            return text.contains("-----BEGIN") ? try Certificate.some(inPEM: text) : [try bare(text)]
        } catch {
            throw Fault(fault: "is not a certificate: \(error.reason)")
        }
    }

    private static func bare(_ text: String) throws(CryptographyError) -> Certificate {
        let characters = text.filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
        guard let der = Base64.decode(characters) else { throw .malformed(.certificate, reason: "it is not base64") }
        return try Certificate(der: der)
    }
}
