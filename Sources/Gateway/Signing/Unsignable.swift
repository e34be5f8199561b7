import Groundwork

/// Why the body of a call cannot be signed.
public enum Unsignable: Error, Sendable, Equatable {
    /// The call has no body.
    case nothing
    /// The caller must not make this claim, or not so.
    case claimNotAllowed(name: String, fault: OwnClaims.Fault)
    /// The body is not what its media type says, so that it cannot be a claim.
    case content(reason: String)
    /// A public host does not get to know who calls.
    case publicHost(host: String)
    /// No key is stored under this name.
    case keyUnknown(name: String)

    var explanation: Explanation {
        switch self {
        case .nothing:
            Explanation(
                "gateway.nothing-to-sign", .invalidInput, "the call is to be signed, but has no body",
                remedy: "send something with it: -d, --data-urlencode, or a member body, text, json or form",
                gateway: .local(170_001))
        case .claimNotAllowed(let name, let fault):
            Explanation(
                "gateway.claim-not-allowed", .invalidInput,
                (name.isEmpty ? "a claim" : "the claim \(DisplayText.clean(name))") + " \(fault.text)",
                remedy: fault.remedy, meaning: "a claim of a signed token has no name or is not valid",
                gateway: .local(170_002))
        case .content(let reason):
            Explanation(
                "gateway.content-not-signable", .invalidInput,
                "the body cannot be signed as the type it has: \(reason)",
                remedy: "send a body of that type, or name the right one: --type, or the member type",
                gateway: .local(170_003))
        case .publicHost(let host):
            Explanation(
                "gateway.signature-for-public-host", .invalidInput,
                "\(host) is a public host, which must not learn who this board is: a signature would name it",
                remedy: "leave the body unsigned, or configure the host as one that gets credentials")
        case .keyUnknown(let name):
            Explanation(
                "gateway.signing-key-unknown", .notFound, "there is no key \(DisplayText.clean(name)) to sign with",
                remedy: "list the keys: latchkey keys list")
        }
    }

    static let examples: [Unsignable] =
        [.nothing, .content(reason: "REASON"), .publicHost(host: "HOST"), .keyUnknown(name: "NAME")]
        + OwnClaims.Fault.allCases.map { .claimNotAllowed(name: $0 == .unnamed ? "" : "NAME", fault: $0) }
}
