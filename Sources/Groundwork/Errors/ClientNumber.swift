/// What the public clients of a system call an error: a number, and which of their numberings it belongs to.
public struct ClientNumber: Sendable, Hashable {
    public enum Domain: String, Sendable, CaseIterable {
        /// The store behind the passcode (SMP A4).
        case secureStore = "secure-store"
        /// Logging on (SMP A1).
        case logonManager = "logon-manager"
        /// The SDK of Oracle Mobile and Social.
        case oracleMobile = "ora-idm-mobile"
    }

    public let domain: Domain
    public let number: Int

    public init(_ domain: Domain, _ number: Int) { (self.domain, self.number) = (domain, number) }

    public var json: JSON { ["domain": .string(domain.rawValue), "number": .integer(Int64(number))] }

    /// Parses ``json``.
    init?(_ json: JSON) {
        guard let domain = json["domain"]?.string.flatMap(Domain.init), let number = json["number"]?.integer else {
            return nil
        }
        self.init(domain, Int(clamping: number))
    }
}

extension ClientNumber: CustomStringConvertible {
    public var description: String { "\(domain.rawValue) \(number)" }
}
