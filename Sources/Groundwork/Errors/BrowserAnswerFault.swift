/// Why the address that a browser was led to does not complete a login: the login still waits for its own.
public enum BrowserAnswerFault: String, Sendable, CaseIterable {
    /// It has no answer that can be used.
    case unusable
    /// It has the answer to another login, as every page can send a browser there (RFC 8252 section 8.9).
    case ofAnotherLogin = "of-another-login"
}
