import COpenSSL
import FoundationEssentials

/// The content of a certificate that an authority issues (RFC 5280).
public struct CertificateTemplate: Sendable {
    public enum Usage: Sendable, Hashable {
        /// TLS servers (`serverAuth`).
        case server
        /// TLS clients (`clientAuth`).
        case client
    }

    public var subject: DistinguishedName
    public var notBefore: Date
    public var notAfter: Date
    public var isCA: Bool
    public var dnsNames: [String]
    public var ipAddresses: [String]
    /// The allowed purposes. Empty means no extended key usage extension, which allows any.
    public var usage: Set<Usage>

    public init(
        subject: DistinguishedName, notBefore: Date, notAfter: Date, isCA: Bool = false, dnsNames: [String] = [],
        ipAddresses: [String] = [], usage: Set<Usage> = []
    ) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.isCA = isCA
        self.dnsNames = dnsNames
        self.ipAddresses = ipAddresses
        self.usage = usage
    }

    /// Issues a certificate with a random serial number of 128 bits, signed with SHA-256.
    /// - Parameters:
    ///   - issuer: the authority's certificate; `nil` issues a certificate with its own subject as issuer.
    ///   - key: the issuer's private key.
    /// - Throws: ``CryptographyError``
    public func issue(
        for publicKey: PublicKey, by issuer: Certificate?, signedWith key: PrivateKey
    ) throws(CryptographyError) -> Certificate {
        let operation = "issue a certificate"
        let certificate = try check(operation, X509_new())
        do throws(CryptographyError) {
            try check(operation, X509_set_version(certificate, Int(X509_VERSION_3)))
            try setSerialNumber(of: certificate)
            try setDates(of: certificate)
            let name = try subject.encodedName()
            defer { X509_NAME_free(name) }
            try check(operation, X509_set_subject_name(certificate, name))
            try check(
                operation, X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.handle) } ?? name))
            try check(operation, X509_set_pubkey(certificate, publicKey.handle))
            try addExtensions(to: certificate, issuer: issuer?.handle ?? certificate)
            guard X509_sign(certificate, key.handle, EVP_sha256()) > 0 else { throw key.signingError(operation) }
        } catch {
            X509_free(certificate)
            throw error
        }
        return try Certificate(owning: certificate)
    }

    private func setSerialNumber(of certificate: OpaquePointer) throws(CryptographyError) {
        let operation = "number a certificate"
        var bytes = try Random.bytes(16)
        // Positive and of constant length (RFC 5280 section 4.1.2.2).
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = try check(operation, BN_bin2bn(bytes, Int32(bytes.count), nil))
        defer { BN_free(number) }
        let serial = try check(operation, BN_to_ASN1_INTEGER(number, nil))
        defer { ASN1_INTEGER_free(serial) }
        try check(operation, X509_set_serialNumber(certificate, serial))
    }

    private func setDates(of certificate: OpaquePointer) throws(CryptographyError) {
        let operation = "date a certificate"
        let first = try CertificateTime.encoded(notBefore)
        defer { ASN1_TIME_free(first) }
        let last = try CertificateTime.encoded(notAfter)
        defer { ASN1_TIME_free(last) }
        try check(operation, X509_set1_notBefore(certificate, first))
        try check(operation, X509_set1_notAfter(certificate, last))
    }

    private func addExtensions(to certificate: OpaquePointer, issuer: OpaquePointer) throws(CryptographyError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        func add(_ identifier: Int32, _ value: String) throws(CryptographyError) {
            let operation = "extend a certificate"
            let part = try check(operation, X509V3_EXT_conf_nid(nil, &context, identifier, value))
            defer { X509_EXTENSION_free(part) }
            try check(operation, X509_add_ext(certificate, part, -1))
        }
        try add(NID_basic_constraints, isCA ? "critical,CA:TRUE" : "critical,CA:FALSE")
        try add(NID_key_usage, isCA ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature,keyEncipherment")
        try add(NID_subject_key_identifier, "hash")
        // Without "always" OpenSSL writes an empty one if a certificate is its own issuer, which strict verifiers
        // refuse (RFC 5280 section 4.2.1.1).
        try add(NID_authority_key_identifier, "keyid:always")
        var purposes: [String] = []
        if usage.contains(.server) { purposes.append("serverAuth") }
        if usage.contains(.client) { purposes.append("clientAuth") }
        if !purposes.isEmpty { try add(NID_ext_key_usage, purposes.joined(separator: ",")) }
        try AlternativeNames.add(dnsNames: dnsNames, ipAddresses: ipAddresses, to: certificate)
    }
}
