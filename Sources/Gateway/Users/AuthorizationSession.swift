import OAuth

/// One way to log in that the gateway offers.
public struct AuthenticationProvider: Sendable, Equatable {
    public let id: String
    /// The `https` URL that a browser opens, a QR code contains, or another device authorizes; used verbatim.
    public let authURL: String
    /// The URL to poll whether the session was authorized, for providers without a browser.
    public let pollURL: String?
}

/// One authorization session at the gateway (MAG 7.1): the user who authorizes it logs in on this board.
///
/// Its verifier and state are private and never printed.
public struct AuthorizationSession: Sendable {
    /// `all`, `enterprise`, or the id of the provider to use.
    public let idp: String
    public let providers: [AuthenticationProvider]
    let proof: ProofKey
    /// The client that began it: its code works only for this client.
    let clientID: String

    /// Login with another device, over Bluetooth or a QR code; `nil` if the gateway does not offer it.
    public var proximity: AuthenticationProvider? {
        providers.first { $0.id.lowercased() == "qrcode" && $0.pollURL != nil }
    }
}

extension AuthorizationSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the providers' names: their URLs are only for the authorizing user.
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
