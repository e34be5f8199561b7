import Cryptography
import OAuth

/// One way to log in that the gateway offers.
public struct AuthenticationProvider: Sendable, Equatable {
    public let id: String
    /// The `https` URL that a browser opens, a QR code contains, or another device authorizes; used verbatim.
    public let authURL: String
    /// The URL to poll whether the session was authorized, for providers without a browser.
    public let pollURL: String?

    /// Names are compared in any case (MAG 7.1).
    public func isNamed(_ name: String) -> Bool { id.lowercased() == name.lowercased() }

    fileprivate var isProximity: Bool { isNamed("qrcode") }
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
    public let clientID: String
    /// Where a browser is led at the end, as the request named it; `nil` for the configured address.
    public var redirectURI: String?

    /// Whether an answer with this state is to this session's request, and not to another one's.
    public func hasState(_ state: SecretBytes) -> Bool { state == proof.state }

    /// Whether a code was requested by this session, and not by another one.
    public func takes(_ code: AuthorizationCode) -> Bool { code.isFor(proof) }

    /// Login with another device, over Bluetooth or a QR code; `nil` if the gateway does not offer it.
    public var proximity: AuthenticationProvider? { providers.first { $0.isProximity && $0.pollURL != nil } }

    /// The providers that a browser may be sent to (MAG 7.1): all of them, or only the one that ``idp`` names.
    public var browserProviders: [AuthenticationProvider] {
        providers.filter { !$0.isProximity && (idp.lowercased() == "all" || $0.isNamed(idp)) }
    }

    /// Whether the gateway wants people to log in with its own user names and passwords too.
    public var takesPasswords: Bool { ["all", "enterprise"].contains(idp.lowercased()) }
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

/// What the gateway answers to the beginning of a login with (MAG 7.1).
public enum AuthorizationDisplay: String, Sendable {
    /// The list of providers, for the program to choose from.
    case providers = "social_login"
    /// The address of the gateway's own login page, for a browser.
    case page = "template"
}
