/// Takes secrets out of text that others will read: private keys, values of keys such as `password` and `token`, user
/// names and queries of URLs, credentials of HTTP, what follows an option such as `--password`, the arguments of
/// commands, and what looks like a token.
public struct SecretMask: Sendable {
    public static let mark = "[masked]"

    /// Identifiers that look like tokens but are not, and names of settings.
    private let known: Set<String>
    /// Whether what looks like a token is masked although nothing says that it is one.
    private let masksOpaque: Bool

    public init(keeping known: Set<String> = [], masksOpaque: Bool = true) {
        self.known = known
        self.masksOpaque = masksOpaque
    }

    /// The text with ``mark`` in place of each secret.
    public func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var scanner = SecretScanner(Self.withoutPrivateKeys(bytes), masksOpaque: masksOpaque, known: known)
        return String(decoding: scanner.masked(), as: UTF8.self)
    }

    /// A value that stands under a key; all of it, if the key names a secret.
    public func masked(_ value: JSON, of key: String) -> JSON {
        switch value {
        case .string(let text):
            guard hides(text, of: Self.lastName(in: key)), !text.isEmpty, !Self.isTemplate(text) else {
                return .string(masked(text))
            }
            return .string(Self.mark)
        // Programs take secrets as arguments in too many ways to know them all.
        case .array(let words) where Self.lastName(in: key) == "command":
            return .array(words.enumerated().map { $0 == 0 ? masked($1, of: "") : .string(Self.mark) })
        case .array(let elements): return .array(elements.map { masked($0, of: key) })
        case .object(let members):
            return .object(Dictionary(uniqueKeysWithValues: members.map { ($0.key, masked($0.value, of: $0.key)) }))
        default: return value
        }
    }

    // MARK: Names

    private static let endings = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "pin", "otp", "ticket", "apikey",
        "privatekey", "assertion", "verifier", "authorization", "cookie", "jwt", "psk", "accesskey", "secretkey",
        "sharedkey",
    ]
    /// Words that a name may end with whose value is also something else: a path, a setting's name.
    private static let ambiguous: Set = ["key", "pass", "pwd"]

    /// Whether a value of this name is secret: `password`, `client_secret`, `X-Api-Key`.
    static func isSecret(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return endings.contains { plain.hasSuffix($0) }
    }

    /// Whether a value of this name may be secret: `key`, `db_pass`, `signKey`; not `bypass`, `publicKey`.
    static func isAmbiguous(_ name: String) -> Bool {
        let word = name.split { $0 == "-" || $0 == "_" }.last ?? ""
        guard !name.lowercased().contains("public") else { return false }
        if ambiguous.contains(word.lowercased()) { return true }
        guard let capital = word.lastIndex(where: \.isUppercase), capital > word.startIndex else { return false }
        return ambiguous.contains(word[capital...].lowercased())
    }

    private func hides(_ value: String, of name: String) -> Bool { Self.hides(value, of: name, known: known) }

    /// - Parameter known: values that are not secret.
    static func hides(_ value: some StringProtocol, of name: String, known: Set<String>) -> Bool {
        guard !isSecret(name) else { return true }
        // A path, unless it may be Base64.
        let isPath = value.hasPrefix("/") && !SecretScanner.looksRandom(Array(value.utf8)[...])
        return isAmbiguous(name) && !isPath && !known.contains(String(value))
    }

    private static func lastName(in key: String) -> String { key.split(separator: ".").last.map(String.init) ?? key }

    /// Whether a text only stands for values that others have: `{token}`, `{mag-identifier}::{client}`.
    static func isTemplate(_ text: String) -> Bool {
        var isInside = false
        for character in text {
            switch character {
            case "{": isInside = true
            case "}": isInside = false
            case ":": break
            default: guard isInside else { return false }
            }
        }
        return !isInside
    }

    // MARK: Private keys

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let kind = Array("PRIVATE KEY-----".utf8)

    /// PEM (RFC 7468), also with its line breaks escaped; a key without an end goes to the end of the text.
    private static func withoutPrivateKeys(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var kept: [UInt8] = []
        while let start = rest.firstRange(of: begin) {
            let label = rest[start.upperBound...].prefix(40)
            guard let ending = label.firstRange(of: kind) else {
                kept += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                continue
            }
            kept += rest[..<start.lowerBound] + Array(mark.utf8)
            rest = rest[ending.upperBound...]
            guard let end = rest.firstRange(of: end), let close = rest[end.upperBound...].firstRange(of: kind) else {
                return kept
            }
            rest = rest[close.upperBound...]
        }
        return kept + rest
    }
}
