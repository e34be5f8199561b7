import Groundwork

/// Why a cryptographic operation did not happen. No case carries key material, plain text or a token.
public enum CryptographyError: Explained, Equatable {
    /// OpenSSL refused a call; `reason` is its own text.
    case openSSL(operation: String, reason: String)
    /// The bytes are not what they should be, or have bytes after it.
    case malformed(Subject, reason: String)
    /// More bytes than are ever read of this.
    case tooLong(Subject, count: Int, limit: Int)
    /// A parameter that no implementation should accept, such as a key of the wrong length.
    case invalidParameter(operation: String, reason: String)
    /// A key that is too weak or of a kind that is not used here.
    case unsuitableKey(reason: String)
    /// A sealed text was changed, or sealed with another key or for another place.
    case notAuthentic
    /// A signature does not hold.
    case signatureInvalid(Subject)
    /// A token names an algorithm that is not used here, or that does not fit the key.
    case algorithmRefused(String)
    /// The private key is not the one of the certificate.
    case keyDoesNotFitCertificate

    /// What was read.
    public enum Subject: String, Sendable, Equatable {
        case privateKey = "private key"
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
    public var code: String {
        switch self {
        case .openSSL: "cryptography.openssl"
        case .malformed: "cryptography.malformed"
        case .tooLong: "cryptography.too-long"
        case .invalidParameter: "cryptography.invalid-parameter"
        case .unsuitableKey: "cryptography.unsuitable-key"
        case .notAuthentic: "cryptography.not-authentic"
        case .signatureInvalid: "cryptography.signature-invalid"
        case .algorithmRefused: "cryptography.algorithm-refused"
        case .keyDoesNotFitCertificate: "cryptography.key-does-not-fit-certificate"
        }
    }

    public var message: String {
        switch self {
        case .openSSL(let operation, let reason): "OpenSSL cannot \(operation): \(reason)"
        case .malformed(let subject, let reason): "cannot read the \(subject.rawValue): \(reason)"
        case .tooLong(let subject, let count, let limit):
            "cannot read the \(subject.rawValue): it has \(count) bytes, more than the \(limit) allowed"
        case .invalidParameter(let operation, let reason): "cannot \(operation): \(reason)"
        case .unsuitableKey(let reason): "cannot use the key: \(reason)"
        case .notAuthentic: "cannot open the sealed text: it was changed, or sealed with another key or for another place"
        case .signatureInvalid(let subject): "the signature of the \(subject.rawValue) does not hold"
        case .algorithmRefused(let name): "cannot use the signed token: the algorithm \(name) is not accepted for this key"
        case .keyDoesNotFitCertificate:
            "cannot use the client certificate: the private key is not the one it was issued for"
        }
    }

    public var remedy: String? {
        switch self {
        case .unsuitableKey: "use an RSA key of 2048 to 8192 bits or an EC key on P-256"
        case .keyDoesNotFitCertificate: "register the board again, so that it gets a certificate for its key"
        default: nil
        }
    }
}
