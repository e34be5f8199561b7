import COpenSSL

/// A PKCS#10 certification request (RFC 2986) with a SHA-256 signature.
public struct CertificateRequest: Sendable {
    /// The maximum size of an encoded request, in bytes.
    static let encodedLimit = 16 << 10

    public let der: [UInt8]
    public let subject: DistinguishedName
    public let publicKey: PublicKey

    public var pem: String { PEM.encode(der, label: "CERTIFICATE REQUEST") }

    /// Creates and signs a request.
    /// - Throws: ``CryptographyError``, also for a subject with values that are too long or invalid for their type.
    public init(subject: DistinguishedName, key: PrivateKey) throws(CryptographyError) {
        let operation = "make a certificate request"
        let request = try check(operation, X509_REQ_new())
        defer { X509_REQ_free(request) }
        let name = try subject.encodedName()
        defer { X509_NAME_free(name) }
        try check(operation, X509_REQ_set_version(request, 0))
        try check(operation, X509_REQ_set_subject_name(request, name))
        try check(operation, X509_REQ_set_pubkey(request, key.publicKey.handle))
        guard X509_REQ_sign(request, key.handle, EVP_sha256()) > 0 else { throw key.signingError(operation) }
        der = try encoded(operation) { i2d_X509_REQ(request, $0) }
        self.subject = subject
        publicKey = key.publicKey
    }

    /// Reads a request and verifies that its creator has the private key.
    /// - Throws: ``CryptographyError/malformed(_:reason:)``, ``CryptographyError/signatureInvalid(_:)``
    public init(der: [UInt8]) throws(CryptographyError) {
        let request = try decoded(
            .certificateRequest, der, limit: Self.encodedLimit,
            {
                d2i_X509_REQ(nil, $0, $1)
            }, free: { X509_REQ_free($0) })
        defer { X509_REQ_free(request) }
        guard let key = X509_REQ_get0_pubkey(request) else { throw .malformed(.publicKey, reason: takeOpenSSLReason()) }
        guard X509_REQ_verify(request, key) == 1 else {
            ERR_clear_error()
            throw .signatureInvalid(.certificateRequest)
        }
        self.der = der
        subject = try DistinguishedName(reading: X509_REQ_get_subject_name(request))
        publicKey = try PublicKey(of: key)
    }
}
