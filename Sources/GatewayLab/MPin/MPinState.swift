import Cryptography
import Foundation
import Groundwork

/// A user of the lab's M-Pin back end, from the registration on.
public struct LabMPinUser: Sendable, Equatable, Codable {
    public enum Status: String, Sendable, Codable {
        /// Registered, but not verified.
        case started
        case active
        /// The client secret's first share was fetched, which ends the registration.
        case issued
    }

    /// M-Pin ID in hexadecimal.
    public var id: String
    /// The user id, such as a mail address.
    public var user: String
    public var deviceName: String?
    public var userData: String?
    public var status: Status
    /// Proves whose registration it is; `nil` once that has ended.
    public var regOTT: String?
    /// Of the mail that the lab would have sent.
    public var activationCode: String?
    /// The identifier of a push message that was given with the fetching of the secret.
    public var pushToken: String?
    public var registeredAt: Date
    /// When the registration ends unless the secret is fetched.
    public var expiresAt: Date
    /// In a row.
    public var failures = 0
    public var isBlocked = false
    public var isRevoked = false
    /// Whether the client secret has expired, so that the user has to register again.
    public var isExpired = false
    public var lastLogin: Date?
    /// The one-time password of the latest log-in that asked for one, and its end.
    public var oneTimePassword: String?
    public var oneTimePasswordEnds: Date?
}

/// What the M-Pin back end keeps. Made when M-Pin is first used.
struct MPinState: Sendable, Equatable, Codable {
    /// The master secrets of D-TA 1 and D-TA 2, below the order of the group.
    var secretOne: [UInt8]
    var secretTwo: [UInt8]
    /// Hexadecimal.
    var appID: String
    /// Hexadecimal; its characters are the key of the D-TA's signatures.
    var appKey: String
    /// By M-Pin ID.
    var users: [String: LabMPinUser] = [:]
    /// Activation codes that were given out before the registration, by user id.
    var codes: [String: String] = [:]

    static func generate() throws -> MPinState {
        MPinState(
            secretOne: try MPinNumber.random(), secretTwo: try MPinNumber.random(),
            appID: Hex.encode(try Random.bytes(16)), appKey: Hex.encode(try Random.bytes(32)))
    }
}

/// What the back end remembers for minutes, so a restarted lab starts without it.
struct MPinSessions: Sendable {
    /// Pass 1 of an authentication.
    struct Pass: Sendable {
        /// `UT`, or `U` without time permits.
        var commitment: [UInt8]
        var y: [UInt8]
        var isDated: Bool
        var endsAt: Date
    }

    /// The outcome of pass 2.
    struct Verdict: Sendable {
        var id: String
        /// 200, 401 or 410.
        var status: Int
        /// What pass 2 was answered, which the client has to hand on unchanged.
        var reply: JSON
        var isForPassword: Bool
        /// `0`, an access number or an access code.
        var session: String
        var endsAt: Date
    }

    /// `nil`: as configured.
    var policy: MPinPolicy?
    /// By M-Pin ID.
    var passes: [String: Pass] = [:]
    /// Hashes of every M-Pin ID with each U that came of it.
    private var commitments: Set<[UInt8]> = []
    /// By authOTT.
    var verdicts: [String: Verdict] = [:]
    /// The params of secrets that were handed out, and when they are forgotten.
    var params: [String: Date] = [:]
    /// By webOTT.
    var browsers: [String: LabMPinBrowser] = [:]
    /// What has to be sent to log out, as text, with the user id.
    var logouts: [String: String] = [:]
    /// What clients did against the protocol, oldest first.
    var violations: [String] = []

    static let limit = 1000
    private static let commitmentLimit = 100_000

    /// Whether a U is new, which from here on it is not.
    mutating func isFirst(_ commitment: [UInt8], of id: String) -> Bool {
        if commitments.count >= Self.commitmentLimit { commitments = [] }
        return commitments.insert(SHA256.hash(Array(id.utf8) + commitment)).inserted
    }

    mutating func sweep(_ now: Date) {
        passes = passes.filter { $0.value.endsAt > now }
        verdicts = verdicts.filter { $0.value.endsAt > now }
        params = params.filter { $0.value > now }
        browsers = browsers.filter { $0.value.endsAt + 86_400 > now }
    }

    mutating func note(_ violation: String) {
        violations.append(violation)
        if violations.count > Self.limit { violations.removeFirst() }
    }
}

/// A browser's session that is logged in by a phone: by an access number, or by the access code of a QR code.
public struct LabMPinBrowser: Sendable, Equatable {
    public enum Status: String, Sendable {
        case new
        /// A client has asked for its details.
        case wid
        /// A client has named its user.
        case user
        /// A client has logged in.
        case authenticate
        case expired
    }

    public var webOTT: String
    /// The access number, or the access code of the QR code.
    public var code: String
    /// The QR code's content; `nil` for an access number.
    public var url: String?
    public var status = Status.new
    public var user: String?
    /// For the browser, once a client has logged in.
    var authOTT: String?
    /// Whether the browser has come for it.
    var isReleased = false
    public var startsAt: Date
    public var endsAt: Date
}

extension GatewayCore {
    var mpinPolicy: MPinPolicy {
        get { mpin.policy ?? configuration.mpin }
        set { mpin.policy = newValue }
    }

    /// Where clients find the M-Pin back end.
    var mpinURL: String { baseURL + "/mpin" }

    /// The state, made at the first request.
    mutating func mpinState() throws -> MPinState {
        if let known = state.mpin { return known }
        let made = try MPinState.generate()
        state.mpin = made
        return made
    }
}
