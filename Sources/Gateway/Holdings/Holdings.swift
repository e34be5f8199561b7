import Cryptography
import OAuth
import Vault

/// The state that a session stores for its gateway; the vault has the same under the gateway's scope.
struct Holdings: Sendable {
    /// The key of the device identifier; not used for anything else.
    var identifierKey: KeyReference?
    /// The key of a registration without an answer yet. It is kept until the answer arrives, so that a registration
    /// whose answer was lost can be repeated with the same identifier and the same key.
    var pendingKey: KeyReference?
    var device: Device?
    /// Set while the board must not register by itself.
    var rest: RegistrationRest?
    var client: ClientCredentials?
    /// The board's own tokens; they are independent of the user's.
    var board = HeldTokens()
    /// The logged-in user.
    var user: HeldUser? { didSet { userFault = nil } }
    /// Why the user who is stored cannot be read: the vault's passcode is locked. Then there is no ``user``, and what
    /// sets one, or none, replaces the stored one.
    var userFault: VaultError?
    /// The user's session while it is locked; then there is no ``user``.
    var lock: SessionLock?
    /// The private keys themselves, by their references.
    var keys: [KeyReference: PrivateKey] = [:]

    /// The key references in use.
    var references: Set<KeyReference> { Set([identifierKey, pendingKey, device?.key].compactMap(\.self)) }

    var deviceID: String? { identifierKey.flatMap { keys[$0] }.map(DeviceIdentifier.text(of:)) }

    /// The certificate and key that the board authenticates with; `nil` before the registration.
    var identity: TLSIdentity? { device.flatMap(identity(of:)) }

    func identity(of device: Device) -> TLSIdentity? {
        keys[device.key].map { TLSIdentity(key: $0, chain: device.chain) }
    }

    /// Changes the user, if there is one. A chain that sets a part of none would drop one who cannot be read.
    mutating func updateUser(_ change: (inout HeldUser) -> Void) {
        guard var user else { return }
        change(&user)
        self.user = user
    }

    /// The tokens of a principal. Without a user the user's are empty and cannot be set.
    subscript(principal: Principal) -> HeldTokens {
        get { principal == .board ? board : user?.tokens ?? HeldTokens() }
        set {
            switch principal {
            case .board: board = newValue
            case .user: updateUser { $0.tokens = newValue }
            }
        }
    }
}

/// Why a board without a registration waits for a person before it registers.
enum RegistrationRest: Sendable, Equatable {
    /// A person removed the device or reset its data; a daemon that registered again at once would undo that.
    case byPerson
    /// The gateway said that it no longer knows the device (…107; MAG checklist 26).
    case withdrawn(code: Int)

    var error: GatewayError {
        switch self {
        case .byPerson: .notRegistered
        case .withdrawn(let code): .registrationWithdrawn(code: code)
        }
    }
}
