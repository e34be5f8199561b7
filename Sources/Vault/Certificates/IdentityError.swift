public import FoundationEssentials
public import Groundwork

/// Why an identity was not imported, requested or used. Nothing has changed then.
///
/// The numbers of Oracle Mobile & Social for these and for what reading the file throws (OAMMS B13): 10037 for
/// `CryptographyError.noKey`, `.noCertificate` and `.noCertificateFits`; 10038 for `.wrongPassword`; 30004 for
/// `.malformed` and ``expired(subject:end:)``.
public enum IdentityError: Explained, Equatable {
    case unknown(name: String)
    /// An identity has this name.
    case nameTaken(name: String)
    case nameInvalid(name: String)
    /// The identity `name` has this certificate already.
    case certificateTaken(name: String)
    case expired(subject: String, end: Date)
    case tooMany(limit: Int)
    case tooManyHosts(limit: Int)
    /// The record of the identity is not what this program writes.
    case unreadable(name: String)

    public var explanation: Explanation {
        switch self {
        case .unknown(let name):
            Explanation(
                "certificates.unknown", .notFound, "there is no certificate named \(name)",
                remedy: "latchkey certificates list names them")
        case .nameTaken(let name):
            Explanation(
                "certificates.name-taken", .conflict, "there is a certificate named \(name)",
                remedy: "choose another name, or remove that one: latchkey certificates remove \(name)")
        case .nameInvalid:
            Explanation(
                "certificates.name-invalid", .invalidInput,
                "the name of a certificate is 1 to \(ClientIdentity.nameLimit) lower-case letters, digits and hyphens")
        case .certificateTaken(let name):
            Explanation(
                "certificates.exists", .conflict, "this certificate is there already, named \(name)",
                remedy: "use that one: latchkey certificates use \(name) --host HOST")
        case .expired(let subject, let end):
            Explanation(
                "certificates.expired", .invalidInput,
                "the certificate of \(subject) ended \(end.formatted(.iso8601))",
                remedy: "get a new one from its issuer; if it is valid, check the board's clock",
                meaning: "a certificate has expired, so that no server accepts it")
        case .tooMany(let limit):
            Explanation(
                "certificates.too-many", .conflict, "there are \(limit) certificates, the most allowed",
                remedy: "remove one that is no longer used")
        case .tooManyHosts(let limit):
            Explanation(
                "certificates.too-many-hosts", .conflict, "one certificate is for at most \(limit) hosts",
                remedy: "name fewer hosts")
        case .unreadable(let name):
            Explanation(
                "certificates.unreadable", .damaged, "cannot read the certificate named \(name) in the vault",
                remedy: "remove it, and import it again: latchkey certificates remove \(name)")
        }
    }

    public static let examples: [IdentityError] = [
        .unknown(name: "NAME"), .nameTaken(name: "NAME"), .nameInvalid(name: "NAME"), .certificateTaken(name: "NAME"),
        .expired(subject: "CN=NAME", end: Date(timeIntervalSince1970: 0)), .tooMany(limit: 32),
        .tooManyHosts(limit: 32), .unreadable(name: "NAME"),
    ]
}
