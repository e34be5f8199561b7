import Groundwork

/// Errors of what programs keep in the vault: keys that stay inside, and credentials.
public enum ObjectError: Explained, Equatable {
    case nameNotAllowed
    /// A key of this name exists.
    case exists(name: String)
    case notFound(name: String)
    /// The owner has as many as are allowed.
    case full(limit: Int)
    /// A value is text where bytes were expected, or the other way around.
    case wrongKind(name: String)
    /// The level of protection is not known.
    case unknownLevel
    /// The key cannot do what was asked for: one of P-256 or in hardware only signs, one that is not symmetric does not
    /// encrypt.
    case keyUnfit(name: String)
    /// Keys cannot be made there for programs.
    case keeperUnfit(KeyReference.Keeper)
    /// A record of the vault is not what its name says.
    case damaged(name: String)

    /// The number in the domain `ora-idm-mobile` (OAMMS B18, C7) or, for ``wrongKind(name:)``, `secure-store` (SMP A4).
    public var number: Int? {
        switch self {
        case .wrongKind: 2
        case .notFound: 10523
        case .unknownLevel: 10530
        default: nil
        }
    }

    public var explanation: Explanation {
        switch self {
        case .nameNotAllowed:
            Explanation(
                "object.name-not-allowed", .invalidInput, "the name is not allowed",
                remedy: "keys: 1 to \(KeyReference.nameLimit) of a to z, 0 to 9 and -; credentials: 1 to "
                    + "\(CredentialStore.nameLimit) bytes without control characters")
        case .exists(let name):
            Explanation("object.exists", .conflict, "\(name) exists already", remedy: "remove it first")
        case .notFound(let name):
            Explanation(
                "object.not-found", .notFound, "there is no \(name)",
                meaning: "the program has no key or credential of this name (number 10523 in the domain ora-idm-mobile)"
            )
        case .full(let limit):
            Explanation("object.full", .full, "there are \(limit), the most allowed", remedy: "remove one")
        case .wrongKind(let name):
            Explanation(
                "vault.value-type", .invalidInput, "the value of \(name) is of the other kind: text or bytes",
                meaning: "text was asked for and the value is bytes, or the other way around (number 2 in the domain "
                    + "secure-store)")
        case .unknownLevel:
            Explanation(
                "object.unknown-level", .invalidInput, "the level of protection is not known",
                remedy: "use one of: " + LevelName.allCases.map(\.rawValue).joined(separator: ", "),
                meaning: "the level of protection is not known (number 10530 in the domain ora-idm-mobile)")
        case .keyUnfit(let name):
            Explanation(
                "object.key-unfit", .invalidInput, "the key \(name) cannot do this",
                meaning: "keys of P-256 and keys in hardware only sign, and key pairs do not encrypt")
        case .keeperUnfit(let keeper):
            Explanation(
                "object.keeper-unfit", .configuration, "keys of programs cannot be made \(keeper.place)",
                remedy: "use software, or a setting that does not name an existing key")
        case .damaged(let name):
            Explanation(
                "object.damaged", .damaged, "what the vault has of \(name) is damaged", remedy: "remove it")
        }
    }

    public static let examples: [ObjectError] = [
        .nameNotAllowed, .exists(name: "NAME"), .notFound(name: "NAME"), .full(limit: 64), .wrongKind(name: "NAME"),
        .unknownLevel, .keyUnfit(name: "NAME"), .keeperUnfit(.pkcs11), .damaged(name: "NAME"),
    ]
}
