import Groundwork
import HTTPClient

/// What a called API says about a one-time password (MAG 6.6). Pure.
struct OneTimePasswordChallenge: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case required
        case wrong
        case expired
        /// Too many were asked for or tried.
        case limitExceeded
        /// Too many were wrong.
        case barred
    }

    static let passwordField = "X-OTP"
    static let channelField = "X-OTP-CHANNEL"

    /// The most channels that are read, and the most characters of a name.
    static let channelLimit = 8
    static let channelNameLimit = 32
    /// The longest time that a gateway is believed to bar a user.
    static let longestWait = 30 * 86_400

    let kind: Kind
    /// How a password can be sent, such as `EMAIL`, as the gateway names them.
    let channels: [String]
    /// `nil` where the gateway does not say it.
    let attemptsLeft: Int?
    /// Seconds until a password is taken again.
    let retryAfter: Int?

    /// - Returns: `nil` if the answer says nothing about one. Names of fields may have any case (MAG checklist 67); a
    ///   number of the gateway counts more than a word, and numbers of other interfaces are an API's own business.
    init?(_ response: HTTPResponse) {
        guard !response.isSuccess, response.status != 405 else { return nil }
        let fields = response.headers
        guard
            let kind = Self.kind(number: Refusal.number(fields.first("x-ca-err")))
                ?? Self.kind(word: fields.first(Self.passwordField), status: response.status)
        else { return nil }
        self.kind = kind
        channels = Self.channels(fields.first(Self.channelField) ?? "")
        attemptsLeft = Refusal.number(fields.first("X-OTP-RETRY")).map { min($0, 100) }
        retryAfter = Refusal.number(fields.first("X-OTP-RETRY-INTERVAL")).map { min($0, Self.longestWait) }
    }

    private static func kind(number: Int?) -> Kind? {
        switch number {
        case 8_000_140: .required
        case 8_000_142: .wrong
        case 8_000_143: .expired
        case 8_000_144: .limitExceeded
        case 8_000_145: .barred
        default: nil
        }
    }

    private static func kind(word: String?, status: Int) -> Kind? {
        guard let word, [400, 401, 403].contains(status), word.utf8.count <= 16 else { return nil }
        return switch word.lowercased() {
        case "required": .required
        case "invalid": .wrong
        case "expired": .expired
        case "suspended": .barred
        default: nil
        }
    }

    private static func channels(_ text: String) -> [String] {
        guard text.utf8.count <= 1024 else { return [] }
        var channels: [String] = []
        for part in text.split(separator: ",") {
            let name = String(part.trimming { $0 == " " || $0 == "\t" })
            guard isChannel(name), !channels.contains(name), channels.count < channelLimit else { continue }
            channels.append(name)
        }
        return channels
    }

    private static func isChannel(_ name: String) -> Bool {
        (1...channelNameLimit).contains(name.utf8.count) && name.utf8.allSatisfy(ASCII.isWord)
    }
}

extension CallAnswer {
    /// What an answer means that demands a one-time password of a call for which no user is asked.
    public var passwordDemand: MultiFactorError? {
        guard let challenge = response.flatMap(OneTimePasswordChallenge.init), challenge.kind == .required else {
            return nil
        }
        return .notAsked(hasChoice: challenge.channels.count > 1)
    }
}
