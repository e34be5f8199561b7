import Groundwork

/// Errors of PKCS#11 tokens and their modules.
public enum TokenError: Explained, Equatable {
    // The module
    case moduleMissing(path: String)
    /// Others than root could have written the module.
    case moduleUnsafe(path: String, reason: String)
    case notAModule(path: String, reason: String)
    /// The program ends, so that the module takes no more calls.
    case moduleEnded(path: String)
    /// The module answered with `code` (a `CKR_` value).
    case refused(operation: String, code: UInt)
    /// What the module returned is too large, too small or contradictory.
    case unusableAnswer(operation: String, reason: String)

    // The token
    case uriInvalid(reason: String)
    /// A URI with a `pin-value`.
    case pinInURI
    case noToken(uri: String)
    case severalTokens(uri: String, count: Int)
    /// The token was there and is not any more, or has lost its session twice in a row.
    case tokenGone(uri: String)

    // The PIN
    case pinMissing(token: String)
    /// The token refused the PIN; the flags say what it has left.
    case pinWrong(token: String, isFinalTry: Bool, isLocked: Bool)
    /// The token has refused this PIN before, and it is not offered again.
    case pinKnownWrong(token: String)
    case pinLocked(token: String)
    /// One more wrong PIN locks the token, and this one has not been seen to work.
    case pinFinalTry(token: String)
    /// The program ended while it offered a PIN, and the token has counted a wrong one.
    case pinUncertain(token: String)
    case pinMustChange(token: String)
    /// What is remembered of PINs cannot be read or written, so that none is offered.
    case pinMemoryUnusable(path: String, reason: String)

    // Keys
    case noKey(name: String)
    case severalKeys(name: String, count: Int)
    /// The token would give the key's bytes away.
    case keyExtractable(name: String)
    /// A key of a kind, or with attributes, that is not used here.
    case keyUnsuitable(name: String, reason: String)
    /// The token cannot do what a key is needed for.
    case mechanismMissing(name: String)
    /// A signature of a new key does not verify.
    case signatureWrong(name: String)
    /// What the vault has of a key is not what was written.
    case handleInvalid

    /// Whether a new session may help.
    var endsSession: Bool {
        if case .refused(_, let code) = self { ReturnCode.endsSession(code) } else { false }
    }
}

extension TokenError {
    public var explanation: Explanation {
        switch self {
        case .moduleMissing(let path):
            Explanation(
                "vault.token-module-missing", .unavailable, "there is no PKCS#11 module \(path)",
                remedy: "install the software of the token, or correct the path in the settings")
        case .moduleUnsafe(let path, let reason):
            Explanation(
                "vault.token-module-unsafe", .configuration, "\(path) is not safe to load: \(reason)",
                remedy: "the module, and each folder above it, has to belong to root and be writable by no other user")
        case .notAModule(let path, let reason):
            Explanation(
                "vault.token-module-invalid", .configuration, "cannot use \(path) as a PKCS#11 module: \(reason)",
                remedy: "name the library that the vendor of the token calls its PKCS#11 module")
        case .moduleEnded(let path):
            Explanation("vault.token-module-ended", .temporary, "the PKCS#11 module \(path) is closed")
        case .refused(let operation, let code):
            Explanation(
                "vault.token-refused", .unavailable, "the token cannot \(operation): \(ReturnCode.name(code))",
                remedy: "look the code up in the documentation of the token; pkcs11-tool shows what the token can do")
        case .unusableAnswer(let operation, let reason):
            Explanation(
                "vault.token-answer-unusable", .invalidAnswer, "the PKCS#11 module cannot \(operation): \(reason)",
                remedy: "update the software of the token")
        case .uriInvalid(let reason):
            Explanation(
                "vault.token-uri-invalid", .invalidInput, "the PKCS#11 URI is not valid: \(reason)",
                remedy: "write it like pkcs11:token=NAME;serial=NUMBER;object=KEY"
            )
        case .pinInURI:
            Explanation(
                "vault.token-pin-in-uri", .invalidInput, "a PKCS#11 URI must not contain a PIN",
                remedy: "remove pin-value, and give the PIN by a credential")
        case .noToken(let uri):
            Explanation(
                "vault.token-missing", .temporary, "there is no token \(uri)",
                remedy: "put the token in; if it is there, compare the URI with what pkcs11-tool -L shows")
        case .severalTokens(let uri, let count):
            Explanation(
                "vault.token-ambiguous", .configuration, "\(count) tokens fit \(uri)",
                remedy: "add the serial number of the right one to the URI")
        case .tokenGone(let uri):
            Explanation(
                "vault.token-gone", .temporary, "the token \(uri) was taken out or does not answer",
                remedy: "put the token in again")
        case .pinMissing(let token):
            Explanation(
                "vault.token-pin-missing", .configuration, "token \(token) needs a PIN, and there is none",
                remedy: "give the PIN by a credential")
        case .pinWrong(let token, let isFinalTry, let isLocked):
            Explanation(
                "vault.token-pin-wrong", .denied,
                "the PIN of token \(token) is wrong"
                    + (isLocked ? "; it is locked now" : isFinalTry ? "; one try is left" : ""),
                remedy: isLocked ? Self.unlock : "correct the PIN; the wrong one is not offered again")
        case .pinKnownWrong(let token):
            Explanation(
                "vault.token-pin-known-wrong", .denied,
                "token \(token) refused this PIN before; it is not offered again, so that the token is not locked",
                remedy: "correct the PIN")
        case .pinLocked(let token):
            Explanation("vault.token-pin-locked", .denied, "the PIN of token \(token) is locked", remedy: Self.unlock)
        case .pinFinalTry(let token):
            Explanation(
                "vault.token-pin-final-try", .denied,
                "one more wrong PIN would lock token \(token), so none is tried",
                remedy: "log in once with the right PIN: pkcs11-tool --module MODULE --login --list-objects")
        case .pinUncertain(let token):
            Explanation(
                "vault.token-pin-uncertain", .denied,
                "a login to token \(token) was interrupted, and the token has counted a wrong PIN, so none is tried",
                remedy: "log in once with the right PIN: pkcs11-tool --module MODULE --login --list-objects")
        case .pinMustChange(let token):
            Explanation(
                "vault.token-pin-must-change", .configuration, "the PIN of token \(token) has to be changed first",
                remedy: "change it: pkcs11-tool --module MODULE --login --change-pin")
        case .pinMemoryUnusable(let path, let reason):
            Explanation(
                "vault.token-pin-memory", .unavailable,
                "cannot keep which PINs the token refused, in \(path), so none is offered: \(reason)",
                remedy: "make room on the disk and check the folder's owner; a damaged file can be removed")
        case .noKey(let name):
            Explanation(
                "vault.token-key-missing", .notFound, "there is no key \(name) on the token",
                remedy: "check that it is the right token; pkcs11-tool --login --list-objects shows its keys")
        case .severalKeys(let name, let count):
            Explanation(
                "vault.token-key-ambiguous", .configuration, "\(count) keys on the token fit \(name)",
                remedy: "name the key by its id")
        case .keyExtractable(let name):
            Explanation(
                "vault.token-key-extractable", .configuration, "the token would give key \(name) away",
                remedy: "make a key that is sensitive and not extractable")
        case .keyUnsuitable(let name, let reason):
            Explanation(
                "vault.token-key-unsuitable", .configuration, "cannot use key \(name) of the token: \(reason)",
                remedy: "use an RSA key of 2048 to 8192 bits or an EC key on P-256")
        case .mechanismMissing(let name):
            Explanation(
                "vault.token-mechanism-missing", .unavailable, "the token does not support \(name)",
                remedy: "use a key of the other kind: RSA or P-256")
        case .signatureWrong(let name):
            Explanation(
                "vault.token-signature-wrong", .invalidAnswer, "the token's signature with key \(name) is not valid",
                remedy: "update the software of the token, or use another one")
        case .handleInvalid:
            Explanation("vault.token-handle-invalid", .damaged, "what the vault has of a token's key is damaged")
        }
    }

    private static let unlock =
        "unlock it with its SO PIN: pkcs11-tool --module MODULE --login --login-type so --init-pin"

    public static let examples: [TokenError] = [
        .moduleMissing(path: "PATH"), .moduleUnsafe(path: "PATH", reason: "REASON"),
        .notAModule(path: "PATH", reason: "REASON"), .moduleEnded(path: "PATH"),
        .refused(operation: "OPERATION", code: 0x30), .unusableAnswer(operation: "OPERATION", reason: "REASON"),
        .uriInvalid(reason: "REASON"), .pinInURI, .noToken(uri: "URI"), .severalTokens(uri: "URI", count: 2),
        .tokenGone(uri: "URI"), .pinMissing(token: "TOKEN"),
        .pinWrong(token: "TOKEN", isFinalTry: false, isLocked: false), .pinKnownWrong(token: "TOKEN"),
        .pinLocked(token: "TOKEN"), .pinFinalTry(token: "TOKEN"), .pinUncertain(token: "TOKEN"),
        .pinMustChange(token: "TOKEN"),
        .pinMemoryUnusable(path: "PATH", reason: "REASON"), .noKey(name: "KEY"), .severalKeys(name: "KEY", count: 2),
        .keyExtractable(name: "KEY"), .keyUnsuitable(name: "KEY", reason: "REASON"),
        .mechanismMissing(name: "MECHANISM"), .signatureWrong(name: "KEY"), .handleInvalid,
    ]
}
