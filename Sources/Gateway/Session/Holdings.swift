import Cryptography
import OAuth

/// Everything a session keeps of its gateway; the vault holds the same under the gateway's scope.
struct Holdings: Sendable {
    /// Gives the device identifier; used for nothing else.
    var identifierKey: PrivateKey?
    /// Made for a registration that has not been answered yet. It is kept until it is, so that a registration whose answer
    /// was lost can be repeated with the same identifier and the same key.
    var pendingKey: PrivateKey?
    var device: Device?
    /// A renewed chain that has yet to prove itself by a connection.
    var renewedChain: [Certificate] = []
    /// Set while the board must not register by itself.
    var rest: RegistrationRest?
    var client: ClientCredentials?
    /// The board's own; they go on beside those of a user.
    var tokens = HeldTokens()
    /// The person who is logged in.
    var user: HeldUser?

    var deviceID: String? { identifierKey.map(DeviceIdentifier.text(of:)) }

    /// The tokens of either principal. Those of a user who is not there are none, and cannot be set.
    subscript(principal: Principal) -> HeldTokens {
        get { principal == .board ? tokens : user?.tokens ?? HeldTokens() }
        set {
            switch principal {
            case .board: tokens = newValue
            case .user: user?.tokens = newValue
            }
        }
    }
}

/// What is cleared when (MAG 12.4). The configuration and other gateways' data never are.
extension Holdings {
    /// After a refusal of the client (…201): its tokens go with it. A user stays logged in by the id_token, and not
    /// without one.
    mutating func clearClient() {
        for principal in Principal.allCases {
            self[principal].access = nil
            self[principal].refresh = nil
        }
        client = nil
        endUserWithoutTokens()
    }

    /// Nobody is logged in whose log-in nothing is left of.
    mutating func endUserWithoutTokens() {
        if let user, user.tokens.isEmpty { self.user = nil }
    }

    /// Another master client id in the configuration: registration and id_token stay.
    mutating func adopt(_ configuration: GatewayConfiguration) {
        guard let held = client else {
            client = configuration.staticCredentials
            return
        }
        let isSame =
            held.masterID == configuration.masterClientID
            && (held.isStatic ? held == configuration.staticCredentials : configuration.staticCredentials == nil)
        guard !isSame else { return }
        clearClient()
        client = configuration.staticCredentials
    }

    /// Removed at the gateway, reset by a person, or refused to be renewed: nothing is left.
    ///
    /// - Parameter rest: why the board does not register by itself afterwards; `nil` where it may.
    mutating func clearAll(rest: RegistrationRest?) {
        self = Holdings(rest: rest)
    }
}

/// Why a board without a registration waits for a person before it registers.
enum RegistrationRest: Sendable, Equatable {
    /// A person removed the device or reset its data; a daemon that registered again at once would undo that.
    case byPerson
    /// The gateway said that it does not know the device any more (…107); MAG checklist 26.
    case withdrawn(code: Int)

    var error: GatewayError {
        switch self {
        case .byPerson: .notRegistered
        case .withdrawn(let code): .registrationWithdrawn(code: code)
        }
    }
}
