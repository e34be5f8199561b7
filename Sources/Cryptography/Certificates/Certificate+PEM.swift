import COpenSSL
import Groundwork

extension Certificate {
    /// Reads a text that contains exactly one certificate.
    /// - Throws: ``CryptographyError``
    public convenience init(pem: String) throws(CryptographyError) {
        let found = try PEM.decode(pem)
        guard found.count == 1 else {
            throw .malformed(.certificate, reason: "the text has \(found.count) certificates, not one")
        }
        try self.init(der: found[0])
    }

    /// All certificates in a text, in its order; may be empty.
    /// - Throws: ``CryptographyError`` that names the line of one that cannot be read.
    public static func all(inPEM text: String) throws(CryptographyError) -> [Certificate] {
        try certificates(of: try PEM.blocks(in: text, .certificate))
    }

    /// All certificates in a text, at least one.
    /// - Throws: ``CryptographyError`` that says in which line it cannot be read, or what the text holds instead.
    public static func some(inPEM text: String) throws(CryptographyError) -> [Certificate] {
        let blocks = try PEM.blocks(in: text, .certificate)
        let found = try certificates(of: blocks)
        guard found.isEmpty else { return found }
        guard let other = blocks.first else {
            throw .malformed(.certificate, reason: "there is no line -----BEGIN CERTIFICATE-----")
        }
        let label = DisplayText.oneLine(other.label, limit: 40)
        throw .malformed(.certificate, reason: "there is none; line \(other.line) begins \"\(label)\"")
    }

    /// All certificates in a file, at least one.
    /// - Throws: like ``some(inPEM:)``
    public static func some(inFile bytes: [UInt8]) throws(CryptographyError) -> [Certificate] {
        // The tag of a sequence, with which no text of PEM begins, and a length of two bytes.
        guard !bytes.starts(with: [0x30, 0x82]) else {
            throw .malformed(
                .certificate, reason: "it is DER, not PEM; openssl x509 -inform DER -in FILE writes it as PEM")
        }
        return try some(inPEM: ReceivedText.decodeWherePossible(bytes))
    }

    private static func certificates(of blocks: [PEM.Block]) throws(CryptographyError) -> [Certificate] {
        var found: [Certificate] = []
        for block in blocks where PEM.certificateLabels.contains(block.label) {
            let der = try block.der(.certificate)
            do throws(CryptographyError) {
                found.append(try block.label == PEM.trustedLabel ? trusted(der) : Certificate(der: der))
            } catch {
                throw .malformed(.certificate, reason: "that of line \(block.line): \(error.reason)")
            }
        }
        return found
    }

    /// Reads a certificate that OpenSSL's settings of trust follow, and refuses one that they reject for servers: it
    /// would become an authority here that it is not where it comes from.
    private static func trusted(_ der: [UInt8]) throws(CryptographyError) -> Certificate {
        let handle = try decoded(
            .certificate, der, limit: Self.encodedLimit, { d2i_X509_AUX(nil, $0, $1) }, free: { X509_free($0) })
        let isRejected = X509_check_trust(handle, X509_TRUST_SSL_SERVER, 0) == X509_TRUST_REJECTED
        ERR_clear_error()
        let withSettings = try Certificate(owning: handle)
        guard !isRejected else {
            throw .unsuitableKey(reason: "its settings of trust reject it for servers")
        }
        return try Certificate(der: withSettings.der)
    }
}
