/// Scopes as a server writes them: words separated by blanks (RFC 6749 section 3.3). Pure.
public enum Scope {
    /// The words in their order.
    public static func list(_ scope: String?) -> [String] { (scope ?? "").split(separator: " ").map(String.init) }

    public static func words(_ scope: String?) -> Set<String> { Set(list(scope)) }

    /// Whether what was granted is enough for what is needed.
    ///
    /// - Parameter exceptions: words that a token serves a request without, as they are not about the APIs it is
    ///   called with.
    public static func suffices(_ granted: String, for needed: String?, without exceptions: Set<String> = []) -> Bool {
        words(needed).subtracting(exceptions).isSubset(of: words(granted))
    }
}
