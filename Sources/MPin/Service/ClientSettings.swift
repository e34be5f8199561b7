import Groundwork

/// What a back end tells its clients: addresses, and what it demands (MPIN 5.4). Pure.
struct ClientSettings: Sendable, Equatable {
    /// The addresses that a client uses.
    enum Address: String, CaseIterable {
        case registration = "registerURL"
        case signature = "signatureURL"
        case secondAuthority = "certivoxURL"
        case timePermits = "timePermitsURL"
        case timePermitsStorage = "timePermitsStorageURL"
        case passes = "mpinAuthServerURL"
        case authenticate = "authenticateURL"
        case mobileAuthenticate = "mobileAuthenticateURL"
        case codeStatus = "codeStatusURL"
    }

    /// Every setting as text: numbers in decimal digits.
    let texts: [String: String]
    let usesPermits: Bool
    /// Whether check digits of access numbers are to be compared.
    let checksAccessNumbers: Bool
    let accessNumberDigits: Int64
    let asksForDeviceName: Bool

    /// - Parameter base: the back end's address without a final slash.
    /// - Throws: ``MPinError/answerInvalid(place:reason:)``
    init(_ answer: Answer, of base: String) throws(MPinError) {
        var texts: [String: String] = [:]
        for (name, value) in answer.json.object ?? [:] { texts[name] = Self.text(value, base) }
        self.texts = texts
        for address in Address.allCases { _ = try answer.text(address.rawValue) }
        usesPermits = try answer.flag("usePermits") ?? true
        // Without the newer method of check digits there is nothing that a mobile client could compare with.
        let method = try answer.integer("cSum") ?? 0
        checksAccessNumbers = try (answer.flag("accessNumberUseCheckSum") ?? true) && method != 0
        accessNumberDigits = try answer.integer("accessNumberDigits") ?? 7
        asksForDeviceName = try answer.flag("setDeviceName") ?? false
    }

    /// A setting as text; an empty one if it is missing.
    subscript(name: String) -> String { texts[name] ?? "" }

    subscript(address: Address) -> String { self[address.rawValue] }

    /// The base of the second authority, which ends with a slash.
    var secondAuthority: String {
        let base = self[.secondAuthority]
        return base.isEmpty || base.hasSuffix("/") ? base : base + "/"
    }

    private static func text(_ value: JSON, _ base: String) -> String {
        switch value {
        case .string(let text): absolute(text, base)
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): Int64(exactly: number.rounded(.towardZero)).map { String($0) } ?? ""
        case .null, .array, .object: ""
        }
    }

    /// MPIN 5.2: relative to the back end; web sockets are not spoken here.
    private static func absolute(_ text: String, _ base: String) -> String {
        if text.hasPrefix("/") { return base + text }
        for (scheme, used) in [("wss://", "https://"), ("ws://", "http://")] where text.hasPrefix(scheme) {
            return used + text.dropFirst(scheme.count)
        }
        return text
    }
}
