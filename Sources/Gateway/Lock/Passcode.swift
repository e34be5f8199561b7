public import Cryptography

/// The secret that locks a session and unlocks it. It is not kept.
public struct Passcode: Sendable {
    /// Its length in bytes. Four digits are the least that telephones accept; the limit on attempts protects them.
    public static let length = 4...256

    let secret: SecretBytes

    /// - Throws: ``SessionLockError/passcodeInvalid``
    public init(_ secret: SecretBytes) throws(SessionLockError) {
        guard Self.length.contains(secret.count) else { throw .passcodeInvalid }
        self.secret = secret
    }
}
