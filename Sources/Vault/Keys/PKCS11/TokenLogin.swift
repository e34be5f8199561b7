import CPKCS11
import Cryptography

/// Logs in, without using up the tries that a token has.
struct TokenLogin: Sendable {
    /// The maximum length of a PIN, in bytes.
    private static let pinLimit = 256

    let memory: PINMemory
    let pin: @Sendable () throws(VaultError) -> SecretBytes?

    /// - Parameter user: `CKU_USER`, or `CKU_CONTEXT_SPECIFIC` for the operation that has just begun.
    func logIn(_ session: TokenSession, _ user: CK_USER_TYPE) throws(VaultError) {
        let token = session.token
        guard !token.isLocked else { throw .token(.pinLocked(token: token.name)) }
        guard !token.mustChangePIN else { throw .token(.pinMustChange(token: token.name)) }
        guard let pin = try pin() else {
            guard token.hasPINPad else { throw .token(.pinMissing(token: token.name)) }
            return try check(session.functions.list.C_Login(session.handle, user, nil, 0), session)
        }
        guard (1...Self.pinLimit).contains(pin.count) else { throw .token(.pinMissing(token: token.name)) }
        try memory.begin(pin, for: token)
        let code = pin.withUnsafeBytes { bytes in
            // C declares the PIN as changeable, and does not change it.
            let start = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            return session.functions.list.C_Login(session.handle, user, start, CK_ULONG(bytes.count))
        }
        switch code {
        case CKR_OK: try memory.end(pin, for: token, hasWorked: true)
        // Tokens differ in which of a wrong PIN's properties they name, and in what they count.
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE:
            try memory.end(pin, for: token, hasWorked: false)
        default: try memory.abandon(token)
        }
        try check(code, session)
    }

    private func check(_ code: CK_RV, _ session: TokenSession) throws(VaultError) {
        let name = session.token.name
        switch code {
        // By another user of the module in this process.
        case CKR_OK, CKR_USER_ALREADY_LOGGED_IN: return
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE:
            let now = try session.functions.description(ofTokenIn: session.token.slot)
            throw .token(.pinWrong(token: name, isFinalTry: now.isFinalTry, isLocked: now.isLocked))
        case CKR_PIN_LOCKED: throw .token(.pinLocked(token: name))
        case CKR_PIN_EXPIRED: throw .token(.pinMustChange(token: name))
        default: try session.functions.check("log in", code)
        }
    }
}

extension TokenSession {
    /// Makes private objects usable, unless they are.
    func logIn() throws(VaultError) {
        guard token.needsLogin else { return }
        var info = CK_SESSION_INFO()
        try functions.check("describe the session", functions.list.C_GetSessionInfo(handle, &info))
        guard info.state != CKS_RO_USER_FUNCTIONS, info.state != CKS_RW_USER_FUNCTIONS else { return }
        try login.logIn(self, CK_USER_TYPE(CKU_USER))
    }

    /// Allows the one operation that has begun with a key that asks for the PIN each time.
    func logInForOperation() throws(VaultError) { try login.logIn(self, CK_USER_TYPE(CKU_CONTEXT_SPECIFIC)) }
}
