import Cryptography
import Groundwork

/// Reads the address that a browser was redirected to: the redirect URI with the server's answer in its query (RFC
/// 6749 section 4.1.2). Pure.
public enum RedirectAnswer {
    /// The longest address, in bytes: as long as a browser's request may be.
    public static let limit = 8192

    /// - Parameters:
    ///   - answer: the whole address, or its query from the question mark on.
    ///   - redirectURI: the address that the server redirects browsers to; an answer that is more than a query must
    ///     match it.
    ///   - isOwn: whether a state is that of the login to be answered; a missing one is empty. Nothing else is believed
    ///     of an answer with another state, as every page that a browser shows can send one to a port of this machine
    ///     (RFC 8252 section 8.9).
    /// - Throws: ``RedirectFault``, also for an error that the server reported to the browser.
    public static func code(
        in answer: String, redirectURI: String? = nil, isOwn: (SecretBytes) -> Bool = { _ in true }
    ) throws(RedirectFault) -> AuthorizationCode {
        let none = SecretBytes(utf8: "")
        guard answer.utf8.count <= limit else { throw isOwn(none) ? .tooLong(limit: limit) : .ofAnotherLogin }
        let parts = answer.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = parts.dropFirst().first?.prefix(while: { $0 != "#" }) else { throw .withoutQuery }
        if let redirectURI, !answer.hasPrefix("?"), place(of: answer) != place(of: redirectURI) { throw .elsewhere }
        let values = try ownValues(in: query, isOwn)
        if let error = values["error"] {
            throw .refused(error: DisplayText.clean(error), text: values["error_description"].map(DisplayText.clean))
        }
        guard let code = values["code"], let state = values["state"], !code.isEmpty else { throw .withoutCode }
        return AuthorizationCode(
            code: SecretBytes(utf8: code), state: SecretBytes(utf8: state), issuer: values["iss"])
    }

    /// Reads the answer of the implicit grant, which is in the fragment (RFC 6749 section 4.2.2).
    ///
    /// - Parameter isOwn: as in ``code(in:redirectURI:isOwn:)``; an error has to have the state, too (section 4.2.2.1).
    /// - Returns: the fields as JSON, like a token endpoint's answer, and the state.
    public static func fragment(
        in answer: String, redirectURI: String, isOwn: (SecretBytes) -> Bool = { _ in true }
    ) throws(RedirectFault) -> (fields: JSON, state: SecretBytes, issuer: String?) {
        let none = SecretBytes(utf8: "")
        guard answer.utf8.count <= fragmentLimit else {
            throw isOwn(none) ? .tooLong(limit: fragmentLimit) : .ofAnotherLogin
        }
        guard let mark = answer.firstIndex(of: "#") else { throw .withoutQuery }
        guard place(of: answer) == place(of: redirectURI) else { throw .elsewhere }
        let values = try ownValues(in: answer[answer.index(after: mark)...], isOwn)
        if let error = values["error"] {
            throw .refused(error: DisplayText.clean(error), text: values["error_description"].map(DisplayText.clean))
        }
        guard values["access_token"] != nil, let state = values["state"] else { throw .withoutCode }
        return (.object(values.mapValues(JSON.string)), SecretBytes(utf8: state), values["iss"])
    }

    /// The longest address with tokens in its fragment, in bytes.
    private static let fragmentLimit = 64 * 1024

    /// The fields of an answer with the state of the login.
    private static func ownValues(
        in query: Substring, _ isOwn: (SecretBytes) -> Bool
    ) throws(RedirectFault) -> [String: String] {
        let none = SecretBytes(utf8: "")
        let values: [String: String]
        do throws(RedirectFault) {
            values = try Self.values(in: query)
        } catch {
            throw isOwn(none) ? error : .ofAnotherLogin
        }
        guard isOwn(values["state"].map { SecretBytes(utf8: $0) } ?? none) else { throw .ofAnotherLogin }
        return values
    }

    /// The fields of a form. A repeated name is refused, because two readers might pick different values.
    private static func values(in query: Substring) throws(RedirectFault) -> [String: String] {
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let encoded = parts.count == 2 ? parts[1] : ""
            guard let bytes = PercentEncoding.decode(encoded.utf8, plusIsSpace: true),
                let value = String(validating: bytes, as: UTF8.self),
                values.updateValue(value, forKey: String(parts[0])) == nil
            else { throw .unreadable }
        }
        return values
    }

    /// Scheme and authority, which browsers write in lower case, and the path, which is never empty there.
    private static func place(of address: String) -> String {
        let whole = address.prefix { $0 != "?" && $0 != "#" }
        guard let mark = whole.firstRange(of: "://") else { return String(whole) }
        let path = whole[mark.upperBound...].firstIndex(of: "/") ?? whole.endIndex
        return whole[..<path].lowercased() + (path == whole.endIndex ? "/" : whole[path...])
    }
}

/// Why the address that a browser was redirected to contains no code. It quotes nothing of the address except the
/// server's error.
public enum RedirectFault: Error, Equatable {
    case tooLong(limit: Int)
    case withoutQuery
    /// It is not the redirect URI.
    case elsewhere
    /// The query has broken escapes, or a name twice.
    case unreadable
    /// There is no code, or no state.
    case withoutCode
    /// It has not the state of the login, or none that can be read.
    case ofAnotherLogin
    /// `error` and `error_description` (RFC 6749 section 4.1.2.1), made safe to display.
    case refused(error: String, text: String?)
}
