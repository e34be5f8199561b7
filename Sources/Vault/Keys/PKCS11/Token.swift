import CPKCS11
import Cryptography
import Synchronization

/// A token of a module, and the session with it: opened when it is first needed, kept, and opened once more when it is
/// lost.
///
/// Every function may block for as long as the module does.
public final class Token: Sendable {
    /// What a piece of work needs.
    enum Access {
        /// Public objects.
        case anonymous
        /// Private objects, after login.
        case user
        /// To make and destroy objects too.
        case writing
    }

    private struct Kept: Sendable {
        var slot: CK_SLOT_ID
        var handle: CK_SESSION_HANDLE
        var isWriting: Bool
    }

    private struct State: Sendable {
        var kept: Kept?
        /// Whether the token has been found since this object was made.
        var wasThere = false
    }

    public let uri: TokenURI
    let module: TokenModule
    private let login: TokenLogin
    private let state = Mutex(State())

    /// - Parameters:
    ///   - uri: the token's; what it says of an object does not matter here.
    ///   - pin: is asked for when a login is needed, on the thread that needs it. `nil` if there is none. It must not
    ///     use this token or its module.
    ///   - memory: of the PINs that were refused.
    public init(
        _ uri: TokenURI, module: TokenModule, memory: PINMemory,
        pin: @escaping @Sendable () throws(VaultError) -> SecretBytes?
    ) {
        self.uri = uri.ofToken
        self.module = module
        login = TokenLogin(memory: memory, pin: pin)
    }

    deinit {
        guard let kept = state.withLock({ $0.kept }) else { return }
        do throws(VaultError) {
            try module.inTurn { functions in _ = functions.list.C_CloseSession(kept.handle) }
        } catch {
            // The module has ended, and has closed it.
        }
    }

    /// What the token says about itself now, such as whether its PIN is locked. Needs no PIN.
    ///
    /// - Throws: ``VaultError/token(_:)``
    public func describe() throws(VaultError) -> TokenDescription {
        try module.inTurn { functions throws(VaultError) in try functions.token(uri) }
    }

    /// Works with a session. If that is lost in the middle, `body` runs once more with a new one.
    ///
    /// - Throws: ``VaultError/token(_:)``; ``TokenError/tokenGone(uri:)`` if the new one is lost too.
    func perform<Result: Sendable>(
        _ access: Access, _ body: (TokenSession) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try state.withLock { state throws(VaultError) in
            try module.inTurn { functions throws(VaultError) in
                do throws(VaultError) {
                    return try attempt(&state, access, functions, body)
                } catch .token(let error) where error.endsSession {
                    // Once more, with a new session.
                }
                do throws(VaultError) {
                    return try attempt(&state, access, functions, body)
                } catch .token(let error) where error.endsSession {
                    throw .token(.tokenGone(uri: uri.description))
                }
            }
        }
    }

    private func attempt<Result: Sendable>(
        _ state: inout State, _ access: Access, _ functions: TokenFunctions,
        _ body: (TokenSession) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try body(try session(&state, access, functions))
        } catch {
            // An operation that was begun and not ended would refuse the next one.
            end(&state, functions)
            throw error
        }
    }

    private func session(
        _ state: inout State, _ access: Access, _ functions: TokenFunctions
    ) throws(VaultError) -> TokenSession {
        if let kept = state.kept, access == .writing, !kept.isWriting { end(&state, functions) }
        let kept: Kept
        if let open = state.kept {
            kept = open
        } else {
            do throws(VaultError) {
                kept = try open(access == .writing, functions)
            } catch .token(.noToken) where state.wasThere {
                throw .token(.tokenGone(uri: uri.description))
            }
            state = State(kept: kept, wasThere: true)
        }
        let description = try functions.description(ofTokenIn: kept.slot)
        // Another token may be in the slot by now.
        guard uri.fits(description) else {
            throw .token(.tokenGone(uri: uri.description))
        }
        let session = TokenSession(functions: functions, handle: kept.handle, token: description, login: login)
        if access != .anonymous { try session.logIn() }
        return session
    }

    private func open(_ isWriting: Bool, _ functions: TokenFunctions) throws(VaultError) -> Kept {
        let slot = try functions.token(uri).slot
        var handle: CK_SESSION_HANDLE = 0
        let flags = CKF_SERIAL_SESSION | (isWriting ? CKF_RW_SESSION : 0)
        try functions.check("open a session", functions.list.C_OpenSession(slot, flags, nil, nil, &handle))
        return Kept(slot: slot, handle: handle, isWriting: isWriting)
    }

    private func end(_ state: inout State, _ functions: TokenFunctions) {
        // A session that is lost is closed already.
        if let kept = state.kept { _ = functions.list.C_CloseSession(kept.handle) }
        state.kept = nil
    }
}
