import HTTPClient

/// What the refusals of one kind of server mean: an OAuth server says no by the words of RFC 6749
/// (``OAuthRefusals``), others by numbers of their own.
public protocol RefusalTable: Sendable {
    associatedtype Refusal: Sendable

    /// The server's explicit no. `nil` for a success, and for what is not the server's word: a proxy, a load balancer
    /// or a captive portal may have given it.
    func refusal(in response: HTTPResponse) -> Refusal?

    func subject(of refusal: Refusal) -> RefusalSubject
}

/// What a refusal at the token endpoint is about.
public enum RefusalSubject: Sendable, Equatable {
    /// The client: no other grant would fare better.
    case client
    /// What was granted.
    case grant
    /// Neither: the server failed, or something has to be waited for.
    case passing
}

/// What an answer of a token endpoint is.
public enum TokenVerdict<Refusal: Sendable>: Sendable {
    case granted(TokenAnswer)
    case refused(Refusal, RefusalSubject)
    /// A success that cannot be used.
    case unusable(AnswerFault)
    /// Not the server's word: everything is to be kept.
    case noWord
}

extension RefusalTable {
    public func judge(_ response: HTTPResponse) -> TokenVerdict<Refusal> {
        guard response.status == 200 else {
            guard let refusal = refusal(in: response) else { return .noWord }
            return .refused(refusal, subject(of: refusal))
        }
        do {
            return .granted(try TokenAnswer(response.body))
        } catch {
            return .unusable(error)
        }
    }
}
