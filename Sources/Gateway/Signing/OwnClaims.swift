public import Groundwork

/// The claims that a caller makes in a signed token. They take the place of those that it has by itself (MAG 6.7), each
/// as RFC 7519 section 4.1 has it; only what is signed is no claim of the caller's. Pure.
public struct OwnClaims: Sendable, Equatable {
    /// What is wrong with a claim.
    public enum Fault: Sendable, Equatable, CaseIterable {
        case unnamed
        /// It says what is signed.
        case ofContent
        /// It is made twice.
        case twice
        case notText
        case notAudience
        case notTime
    }

    /// The most claims.
    public static let limit = 64
    /// The claims that say what is signed.
    static let ofContent: Set = ["content", "content-type"]
    /// Seconds since 1970, to the end of the year 9999.
    private static let times = 0.0...253_402_300_799

    public let values: [String: JSON]

    /// - Parameter others: names of claims that the caller makes otherwise.
    /// - Throws: ``Unsignable/claimNotAllowed(name:fault:)``
    init(_ values: [String: JSON], besides others: [String]) throws(GatewayError) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let fault = others.contains(name) ? .twice : Self.fault(of: name, value) {
                throw .unsignable(.claimNotAllowed(name: name, fault: fault))
            }
        }
        self.values = values
    }

    /// When the token was issued, in seconds since 1970; `nil` if the caller does not say.
    var issued: Int64? { values["iat"]?.number.map { Int64($0) } }

    private static func fault(of name: String, _ value: JSON) -> Fault? {
        switch name {
        case "": .unnamed
        case _ where ofContent.contains(name): .ofContent
        case "iss", "sub", "jti": value.string == nil ? .notText : nil
        case "aud": isAudience(value) ? nil : .notAudience
        case "exp", "iat", "nbf": value.number.map(times.contains) == true ? nil : .notTime
        default: nil
        }
    }

    private static func isAudience(_ value: JSON) -> Bool {
        guard let list = value.array else { return value.string != nil }
        return !list.isEmpty && list.allSatisfy { $0.string != nil }
    }
}

extension OwnClaims.Fault {
    /// Completes a sentence that begins with the claim, if that has a name.
    var text: String {
        switch self {
        case .unnamed: "has no name"
        case .ofContent: "describes the signed content, and cannot be set"
        case .twice: "is given twice"
        case .notText: "is not text"
        case .notAudience: "is neither text nor a list of texts"
        case .notTime: "is not a time in seconds since 1970"
        }
    }

    var remedy: String {
        switch self {
        case .unnamed: "give it a name"
        case .ofContent: "use another name than \(OwnClaims.ofContent.sorted().joined(separator: " and "))"
        case .twice: "give it once: as a claim, or by the option or member of its own"
        case .notText, .notAudience, .notTime: "give it a value of its type (RFC 7519 section 4.1)"
        }
    }
}
