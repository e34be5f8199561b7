/// Scopes as a server writes them: words separated by spaces (RFC 6749 section 3.3). Pure.
public enum Scope {
    /// The words in their order.
    public static func list(_ scope: String?) -> [String] { (scope ?? "").split(separator: " ").map(String.init) }

    /// A scope as GitHub answers it, with commas between the words, as others do. A comma may be part of a word, but none
    /// is known that is.
    static func separated(_ scope: String) -> String {
        scope.contains(" ") ? scope : String(scope.map { $0 == "," ? " " : $0 })
    }

    public static func words(_ scope: String?) -> Set<String> { Set(list(scope)) }

    /// Whether what was granted is enough for what is needed.
    ///
    /// - Parameter exceptions: words that need not be granted, as they do not concern the APIs that the token is used
    ///   for.
    public static func suffices(_ granted: String, for needed: String?, without exceptions: Set<String> = []) -> Bool {
        words(needed).subtracting(exceptions).isSubset(of: words(granted))
    }
}
