import Groundwork

/// Why a cryptographic operation failed. No case contains key material, plain text or a token.
public enum CryptographyError: Explained, Equatable {
    /// A call to OpenSSL failed; `reason` is OpenSSL's text.
    case openSSL(operation: String, reason: String)
    /// The bytes have the wrong format, or more bytes after their end.
    case malformed(Subject, reason: String)
    /// More bytes than the limit for this subject.
    case tooLong(Subject, count: Int, limit: Int)
    /// A parameter that no implementation should accept, such as a key of the wrong length.
    case invalidParameter(operation: String, reason: String)
    /// A key that is too weak or of a kind that is not used here.
    case unsuitableKey(reason: String)
    /// Sealed content was changed, or sealed with another key or for another place.
    case notAuthentic
    /// A signature is invalid.
    case signatureInvalid(Subject)
    /// A token's algorithm is not supported here, or does not fit the key.
    case algorithmRefused(String)
    /// The private key does not belong to the certificate.
    case keyDoesNotFitCertificate
    /// The place that has a ``ForeignKey`` did not sign; the explanation is of its own error.
    case foreignKey(Explanation)

    /// What is encrypted with a password has another one.
    case wrongPassword(Subject)
    /// A file for keys holds none.
    case noKey(Subject)
    /// A file for keys has none with a certificate.
    case noCertificate(Subject)
    /// The certificates of a file are not for a private key in it.
    case noCertificateFits(Subject)
    /// What is encrypted with a password is so in a way that this OpenSSL does not read.
    case unsupportedEncryption(Subject, algorithm: String)

    /// The type of the data.
    public enum Subject: String, Sendable, Equatable {
        case privateKey = "private key"
        case keyFile = "PKCS#12 file"
        case identityFile = "file of the certificate"
        case publicKey = "public key"
        case certificate
        case certificateRequest = "certificate request"
        case distinguishedName = "distinguished name"
        case token = "signed token"
        case sealedText = "sealed text"
        case secret
    }
}

extension CryptographyError {
    /// Why, without what it was: completes a sentence that has named it.
    public var reason: String {
        switch self {
        case .malformed(_, let reason), .unsuitableKey(let reason): reason
        case .tooLong(_, let count, let limit): "it has \(count) bytes, more than the \(limit) allowed"
        default: message
        }
    }

    public var explanation: Explanation {
        switch self {
        case .openSSL(let operation, let reason):
            Explanation(
                "cryptography.openssl", .internal, "OpenSSL cannot \(operation): \(reason)",
                meaning: "OpenSSL failed at something that should work")
        case .malformed(let subject, let reason):
            Explanation(
                "cryptography.malformed", .damaged, "cannot read the \(subject.rawValue): \(reason)",
                meaning: "a key, a certificate or a token is malformed, or has bytes after it")
        case .tooLong(let subject, let count, let limit):
            Explanation(
                "cryptography.too-long", .damaged,
                "cannot read the \(subject.rawValue): it has \(count) bytes, more than the \(limit) allowed",
                meaning: "a key, a certificate or a token is longer than any valid one")
        case .invalidParameter(let operation, let reason):
            Explanation(
                "cryptography.invalid-parameter", .internal, "cannot \(operation): \(reason)",
                meaning: "a parameter that no implementation should accept, such as a key of the wrong length")
        case .unsuitableKey(let reason):
            Explanation(
                "cryptography.unsuitable-key", .configuration, "cannot use the key: \(reason)",
                remedy: "use an RSA key of 2048 to 8192 bits or an EC key on P-256")
        case .notAuthentic:
            Explanation(
                "cryptography.not-authentic", .damaged,
                "cannot open the sealed text: it was changed, or sealed with another key or for another place")
        case .signatureInvalid(let subject):
            Explanation(
                "cryptography.signature-invalid", .damaged,
                "the signature of the \(subject.rawValue) is not valid")
        case .algorithmRefused(let name):
            Explanation(
                "cryptography.algorithm-refused", .invalidAnswer,
                "cannot use the signed token: the algorithm \(name) is not accepted for this key")
        case .keyDoesNotFitCertificate:
            Explanation(
                "cryptography.key-does-not-fit-certificate", .damaged,
                "cannot use the client certificate: the private key is not the one it was issued for",
                remedy: "register the board again, so that it gets a certificate for its key")
        case .foreignKey(let cause):
            Explanation(
                "cryptography.foreign-key", cause.kind, "cannot sign: \(cause.message)", remedy: cause.remedy,
                meaning: "what has a private key, such as a TPM or a token, did not sign with it", cause: cause.code)
        case .wrongPassword(let subject):
            Explanation(
                "cryptography.wrong-password", .permission, "wrong password for the \(subject.rawValue)")
        case .noKey(let subject):
            Explanation(
                "cryptography.no-key", .invalidInput, "there is no private key in the \(subject.rawValue)",
                remedy: "export the certificate together with its private key")
        case .noCertificate(let subject):
            Explanation(
                "cryptography.no-certificate", .invalidInput,
                "there is no certificate for a private key in the \(subject.rawValue)",
                remedy: "export the certificate together with its private key")
        case .noCertificateFits(let subject):
            Explanation(
                "cryptography.no-certificate-fits", .invalidInput,
                "no certificate in the \(subject.rawValue) is for its private key",
                remedy: "export the certificate together with its own private key")
        case .unsupportedEncryption(let subject, let algorithm):
            Explanation(
                "cryptography.unsupported-encryption", .invalidInput,
                "cannot decrypt the \(subject.rawValue): OpenSSL \(libraryVersion) of this system does not read "
                    + algorithm,
                remedy:
                    "for RC2 and DES, install its legacy provider (Debian 13: openssl-provider-legacy); else export "
                    + "the file again with AES-256 and SHA-256",
                meaning: "a file is encrypted with an algorithm that is no longer safe, or newer than this system")
        }
    }

    public static let examples: [CryptographyError] = [
        .openSSL(operation: "OPERATION", reason: "REASON"), .malformed(.certificate, reason: "REASON"),
        .tooLong(.certificate, count: 70_000, limit: 65_536),
        .invalidParameter(operation: "OPERATION", reason: "REASON"),
        .unsuitableKey(reason: "REASON"), .notAuthentic, .signatureInvalid(.certificate),
        .algorithmRefused("ALGORITHM"),
        .keyDoesNotFitCertificate, .foreignKey(Explanation(of: CryptographyError.signatureInvalid(.privateKey))),
        .wrongPassword(.keyFile), .noKey(.keyFile), .noCertificate(.identityFile), .noCertificateFits(.identityFile),
        .unsupportedEncryption(.keyFile, algorithm: "ALGORITHM"),
    ]
}
