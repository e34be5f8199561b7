import CPKCS11
import Groundwork
import Synchronization

/// A PKCS#11 module: the library of a token's vendor, loaded when it is first needed and never unloaded.
///
/// It runs in this process and can read all of its memory, so its file has to belong to root. All calls are made in
/// turn. One object is meant to be made for each module of the settings.
public final class TokenModule: Sendable {
    private enum State: Sendable {
        case unused
        /// - Parameter isOurs: whether it was this object that initialized it.
        case initialized(TokenFunctions, isOurs: Bool)
        case ended
    }

    /// As the settings name it.
    public let path: String
    private let file: ModuleFile
    private let state = Mutex(State.unused)

    /// - Parameter path: absolute. Nothing is read or loaded yet.
    public convenience init(path: String) { self.init(path: path, trustsThisUser: false) }

    /// - Parameter trustsThisUser: takes a module that belongs to the user that runs this process.
    init(path: String, trustsThisUser: Bool) {
        self.path = path
        file = ModuleFile(trustsThisUser: trustsThisUser)
    }

    /// Calls `body` while no other thread calls the module. May block for as long as the module does.
    ///
    /// - Throws: also ``TokenError/moduleMissing(path:)``, ``TokenError/moduleUnsafe(path:reason:)``,
    ///   ``TokenError/notAModule(path:reason:)``, ``TokenError/refused(operation:code:)``,
    ///   ``TokenError/moduleEnded(path:)``
    func inTurn<Result: Sendable>(
        _ body: (TokenFunctions) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try state.withLock { state throws(VaultError) in
            switch state {
            case .ended: throw .token(.moduleEnded(path: path))
            case .initialized(let functions, _):
                return try withoutBrokenPipe { () throws(VaultError) in try body(functions) }
            case .unused:
                let (functions, isOurs) = try withoutBrokenPipe { () throws(VaultError) in
                    let functions = try load()
                    return (functions, try functions.initialize())
                }
                state = .initialized(functions, isOurs: isOurs)
                return try withoutBrokenPipe { () throws(VaultError) in try body(functions) }
            }
        }
    }

    /// Ends the module's work (`C_Finalize`), as it has to be before the process exits: SoftHSM 2.6.1 crashes
    /// otherwise. Waits for a call that is under way; later ones fail.
    public func finalize() {
        state.withLock { state in
            // What it returns changes nothing: the process ends.
            if case .initialized(let functions, isOurs: true) = state { _ = functions.list.C_Finalize(nil) }
            state = .ended
        }
    }

    private func load() throws(VaultError) -> TokenFunctions {
        let file = try file.checked(path)
        var list: UnsafeMutablePointer<CK_FUNCTION_LIST>?
        if let reason = latchkey_load_token_module(file, &list) {
            throw .token(.notAModule(path: path, reason: String(cString: reason)))
        }
        guard let list else { throw .token(.notAModule(path: path, reason: "it has no functions")) }
        return TokenFunctions(list.pointee)
    }
}

/// The functions of a loaded module. Those that are used are there: `latchkey_load_token_module` has checked it.
///
/// `@unchecked Sendable` is correct because they are addresses of code that is never unloaded.
struct TokenFunctions: @unchecked Sendable {
    let list: CK_FUNCTION_LIST

    init(_ list: CK_FUNCTION_LIST) { self.list = list }

    /// - Returns: whether it was not initialized yet.
    fileprivate func initialize() throws(VaultError) -> Bool {
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CKF_OS_LOCKING_OK
        var code = list.C_Initialize(&arguments)
        // A module without locks takes calls in turn, as they are made here.
        if code == CKR_CANT_LOCK || code == CKR_NEED_TO_CREATE_THREADS { code = list.C_Initialize(nil) }
        // Another user of the same library in this process.
        guard code != CKR_CRYPTOKI_ALREADY_INITIALIZED else { return false }
        try check("initialize the module", code)
        return true
    }

    /// - Parameter operation: completes the sentence "cannot …".
    func check(_ operation: String, _ code: CK_RV) throws(VaultError) {
        guard code == CKR_OK else { throw .token(.refused(operation: operation, code: code)) }
    }
}
