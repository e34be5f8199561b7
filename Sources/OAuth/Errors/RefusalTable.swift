import HTTPClient

/// The meaning of one kind of server's refusals: an OAuth server refuses with the codes of RFC 6749
/// (``OAuthRefusals``), others with numbers of their own.
public protocol RefusalTable: Sendable {
    associatedtype Refusal: Sendable

    /// The server's explicit refusal, whatever its status. `nil` for a success, and for an answer that may be from a
    /// proxy, a load balancer or a captive portal.
    func refusal(in response: HTTPResponse) -> Refusal?

    func subject(of refusal: Refusal) -> RefusalSubject
}

/// What a refusal at the token endpoint is about.
public enum RefusalSubject: Sendable, Equatable {
    /// The client: no other grant would succeed.
    case client
    /// What was granted.
    case grant
    /// Neither: the server failed, or the client has to wait.
    case passing
}

/// The classification of a token endpoint's answer.
public enum TokenVerdict<Refusal: Sendable>: Sendable {
    case granted(TokenAnswer)
    case refused(Refusal, RefusalSubject)
    /// A success that cannot be used.
    case unusable(AnswerFault)
    /// Not an answer of the server itself: all tokens are kept.
    case notFromServer
}

extension RefusalTable {
    public func judge(_ response: HTTPResponse) -> TokenVerdict<Refusal> {
        if let refusal = refusal(in: response) { return .refused(refusal, subject(of: refusal)) }
        guard response.status == 200 else { return .notFromServer }
        do {
            return .granted(try TokenAnswer(response.body))
        } catch {
            return .unusable(error)
        }
    }
}
