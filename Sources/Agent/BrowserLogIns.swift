import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import Proximity

/// Log-ins whose other half happens in a browser on another machine (gateway protocol 7.2): a few at a time, in memory, as
/// the session at the gateway lives for minutes only.
actor BrowserLogIns {
    private static let limit = 4

    private struct Begun {
        let id: String
        let session: GatewaySession
        let authorization: AuthorizationSession
    }

    private var begun: [Begun] = []

    /// - Throws: `GatewayError`, also when the gateway offers no log-in in a browser.
    func begin(at session: GatewaySession) async throws -> JSON {
        let authorization = try await session.authorizationSession()
        guard let provider = authorization.providers.first(where: { $0.pollURL == nil }) else { throw AgentError.browserNotOffered }
        let id = Hex.encode(try Random.bytes(8))
        if begun.count == Self.limit { begun.removeFirst() }
        begun.append(Begun(id: id, session: session, authorization: authorization))
        return ["id": .string(id), "url": .string(provider.authURL), "provider": .string(provider.id)]
    }

    /// - Parameters:
    ///   - answer: where the browser was led to in the end: the redirect address, with `code` and `state`.
    ///   - active: of the gateway that is active now; nobody logs in at one that the board has left.
    func end(_ id: String, answer: String, at active: GatewaySession) async throws -> UserStatus {
        guard let index = begun.firstIndex(where: { $0.id == id && $0.session === active }) else { throw AgentError.noSuchLogIn(String(id.prefix(32))) }
        let logIn = begun[index]
        let code = try Self.code(in: answer, redirectURI: active.configuration.redirectURI)
        begun.remove(at: index)
        return try await logIn.session.logIn(with: code, of: logIn.authorization)
    }

    /// The query of the redirect address (RFC 6749 section 4.1.2).
    ///
    /// - Parameter redirectURI: to which the gateway leads browsers; an answer that is more than a query has to be of it.
    /// - Throws: ``AgentError/browserAnswerInvalid(reason:)``, also with what the gateway told the browser.
    static func code(in answer: String, redirectURI: String? = nil) throws(AgentError) -> AuthorizationCode {
        guard answer.utf8.count <= 4096 else { throw .browserAnswerInvalid(reason: "it is longer than 4096 bytes") }
        guard let query = answer.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first?.prefix(while: { $0 != "#" }) else {
            throw .browserAnswerInvalid(reason: "it has no query with code and state")
        }
        if let redirectURI, !answer.hasPrefix("?"), place(of: answer) != place(of: redirectURI) {
            throw .browserAnswerInvalid(reason: "the gateway leads browsers to another address")
        }
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            guard let decoded = decoded(value),
                values.updateValue(decoded, forKey: String(parts[0])) == nil
            else { throw .browserAnswerInvalid(reason: "its query cannot be read") }
        }
        if let error = values["error"] {
            throw .browserAnswerInvalid(reason: "the gateway said \(DisplayText.clean(values["error_description"] ?? error))")
        }
        guard let code = values["code"], let state = values["state"], !code.isEmpty else {
            throw .browserAnswerInvalid(reason: "it has no code, or no state")
        }
        return AuthorizationCode(code: SecretBytes(utf8: code), state: SecretBytes(utf8: state))
    }

    /// Scheme and authority, which browsers write in small letters, and the path, which is never empty there.
    private static func place(of address: String) -> String {
        let whole = address.prefix { $0 != "?" && $0 != "#" }
        guard let mark = whole.firstRange(of: "://") else { return String(whole) }
        let path = whole[mark.upperBound...].firstIndex(of: "/") ?? whole.endIndex
        return whole[..<path].lowercased() + (path == whole.endIndex ? "/" : whole[path...])
    }

    /// As a form writes it (URL standard, section 5.1).
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))?.first else { return nil }
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
