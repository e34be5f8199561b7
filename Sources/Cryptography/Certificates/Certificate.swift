import COpenSSL
import FoundationEssentials
import Groundwork

/// An X.509 certificate (RFC 5280). Reading it verifies nothing: ``isIssued(by:)`` and ``TLSContext`` do.
public final class Certificate: Sendable {
    /// The maximum size of an encoded certificate, in bytes.
    public static let encodedLimit = 64 << 10

    /// An `X509`.
    ///
    /// `nonisolated(unsafe)` is correct because OpenSSL counts its references and caches its extensions under a lock of
    /// its own, and nothing else changes it after `init`.
    nonisolated(unsafe) let handle: OpaquePointer
    public let der: [UInt8]
    public let subject: DistinguishedName
    public let issuer: DistinguishedName
    /// Lower-case hexadecimal, without a sign.
    public let serialNumber: String
    public let notBefore: Date
    public let notAfter: Date
    public let publicKey: PublicKey
    /// The DNS names of the subject alternative name extension; names that are not ASCII are left out.
    public let dnsNames: [String]
    /// Whether the basic constraints declare an authority.
    public let isCA: Bool

    /// - Throws: ``CryptographyError``
    public convenience init(der: [UInt8]) throws(CryptographyError) {
        try self.init(
            owning: try decoded(
                .certificate, der, limit: Self.encodedLimit,
                {
                    d2i_X509(nil, $0, $1)
                }, free: { X509_free($0) }))
    }

    /// Takes ownership of the caller's reference, even if it throws.
    init(owning handle: OpaquePointer) throws(CryptographyError) {
        do throws(CryptographyError) {
            der = try encoded("write a certificate") { i2d_X509(handle, $0) }
            guard der.count <= Self.encodedLimit else {
                throw .tooLong(.certificate, count: der.count, limit: Self.encodedLimit)
            }
            subject = try DistinguishedName(reading: X509_get_subject_name(handle))
            issuer = try DistinguishedName(reading: X509_get_issuer_name(handle))
            let serial = X509_get0_serialNumber(handle)
            serialNumber = Hex.encode(
                UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(serial), count: Int(ASN1_STRING_length(serial))))
            notBefore = try CertificateTime.date(X509_get0_notBefore(handle))
            notAfter = try CertificateTime.date(X509_get0_notAfter(handle))
            guard let key = X509_get0_pubkey(handle) else {
                throw .malformed(.publicKey, reason: takeOpenSSLReason())
            }
            publicKey = try PublicKey(of: key)
            dnsNames = AlternativeNames.dnsNames(of: handle)
            isCA = X509_check_ca(handle) == 1
        } catch {
            X509_free(handle)
            throw error
        }
        self.handle = handle
    }

    deinit { X509_free(handle) }

    public var pem: String { PEM.encode(der) }

    /// SHA-256 of the SubjectPublicKeyInfo.
    public var spkiSHA256: [UInt8] { publicKey.spkiSHA256 }

    /// Whether its usages allow that a TLS client shows it (RFC 5280 section 4.2.1.12).
    public var isForClients: Bool {
        defer { ERR_clear_error() }
        return X509_check_purpose(handle, X509_PURPOSE_SSL_CLIENT, 0) == 1
    }

    /// Whether names, key identifiers and key usage fit `issuer`, and its key made the signature. Dates are not
    /// checked.
    public func isIssued(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_issued(issuer.handle, handle) == X509_V_OK
            && X509_verify(handle, issuer.publicKey.handle) == 1
    }
}

extension Certificate: Equatable {
    public static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }
}

extension Certificate: CustomStringConvertible {
    public var description: String { "certificate \(serialNumber) of \(subject)" }
}

/// Writes and reads the times of certificates, which have no time zone and no fractions (RFC 5280 section 4.1.2.5).
enum CertificateTime {
    static func date(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptographyError) -> Date {
        let operation = "read a certificate's date"
        let epoch = try check(operation, ASN1_TIME_set(nil, 0))
        defer { ASN1_TIME_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        try check(operation, ASN1_TIME_diff(&days, &seconds, epoch, time))
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(seconds))
    }

    /// - Returns: a time that the caller must free.
    static func encoded(_ date: Date) throws(CryptographyError) -> UnsafeMutablePointer<ASN1_TIME> {
        let operation = "write a certificate's date"
        // X.509 cannot represent years after 9999.
        guard let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)),
            (0..<253_402_300_800).contains(seconds)
        else { throw .invalidParameter(operation: operation, reason: "it is not between 1970 and 9999") }
        return try check(operation, ASN1_TIME_set(nil, seconds))
    }
}
