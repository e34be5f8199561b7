import Foundation

/// Where and how the lab demands one-time passwords (MAG 6.6).
public struct OneTimePasswordPolicy: Sendable, Equatable {
    /// Demand one; empty for nowhere.
    public var endpoints: Set<Endpoint> = []
    /// How a password can be sent, as ``OneTimePasswordPolicy/allChannels`` names it.
    public var channels = ["EMAIL", "SMS"]
    /// How long a password is good for, in seconds.
    public var life = 300
    /// How many wrong passwords bar the user.
    public var tries = 3
    /// How long a user is barred, in seconds.
    public var suspension = 100
    /// How many passwords a user may ask for in the time of ``suspension``.
    public var deliveries = 10
    /// How long a right password opens everything for its access token, in seconds; 0: each call needs its own.
    public var remembers = 0
    /// Whether answers also have `X-OTP` and the other headers; without them, the number in `x-ca-err` says it all but
    /// the channels and the attempts.
    public var hasHeaders = true

    public static let allChannels = ["EMAIL", "SMS", "QRCODE"]

    public init() {}
}

/// A one-time password that the lab has sent, or that it never accepts.
public struct LabOneTimePassword: Sendable, Equatable {
    /// The user, or the mag-identifier of a device that acts for itself.
    public var owner: String
    /// `nil` once it was used or replaced.
    public var password: String?
    /// How it was sent.
    public var channels: [String]
    public var expiresAt: Date
    public var triesLeft: Int
    public var barredUntil: Date?
    /// When passwords were sent.
    var deliveries: [Date] = []
}

/// The lab's one-time passwords. They live for minutes, so a restarted lab starts without them.
struct OneTimePasswords: Sendable {
    var policy = OneTimePasswordPolicy()
    /// By owner.
    var sent: [String: LabOneTimePassword] = [:]
    /// Until when an access token needs no further one.
    var opened: [String: Date] = [:]
}
