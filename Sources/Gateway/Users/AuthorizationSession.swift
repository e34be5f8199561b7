import OAuth

/// One way to log in that the gateway offers.
public struct AuthenticationProvider: Sendable, Equatable {
    public let id: String
    /// What a browser opens, a QR code holds, or another device authorizes: verbatim, `https`.
    public let authURL: String
    /// Where to ask whether the session was authorized, for providers without a browser.
    public let pollURL: String?
}

/// One authorization session at the gateway (MAG 7.1): whoever authorizes it logs in on this board.
///
/// Its verifier and state stay inside and are never shown.
public struct AuthorizationSession: Sendable {
    /// `all`, `enterprise`, or the one provider to take.
    public let idp: String
    public let providers: [AuthenticationProvider]
    let proof: ProofKey
    /// The client that it was begun by: its code is good for no other.
    let clientID: String

    /// Log-in by another device, over Bluetooth or a QR code; `nil` where the gateway does not offer it.
    public var proximity: AuthenticationProvider? {
        providers.first { $0.id.lowercased() == "qrcode" && $0.pollURL != nil }
    }
}

extension AuthorizationSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The providers' names: their URLs are for those who shall authorize.
    public var description: String { "authorization session for \(providers.map(\.id).joined(separator: ", "))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether an authorization session was authorized.
public enum PollAnswer: Sendable {
    /// Not yet.
    case pending
    case code(AuthorizationCode)
}
