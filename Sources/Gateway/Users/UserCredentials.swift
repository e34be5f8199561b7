import Cryptography
import HTTPClient

/// A user name and a password, fit for what carries them.
struct UserCredentials: Sendable {
    /// The longest password, in bytes.
    static let passwordLimit = 1024

    let name: String
    let password: SecretBytes

    /// - Throws: ``GatewayError/userCredentialsUnusable(reason:)``, before anything is sent. The password's bytes may be any:
    ///   both carriers encode them.
    init(name: String, password: SecretBytes) throws(GatewayError) {
        guard HeldUser.isName(name) else {
            throw .userCredentialsUnusable(
                reason: "the user name is empty, longer than \(HeldUser.nameLimit) bytes or has control characters")
        }
        // RFC 7617 section 2: the first colon ends the name.
        guard !name.contains(":") else { throw .userCredentialsUnusable(reason: "the user name holds a colon") }
        guard (1...Self.passwordLimit).contains(password.count) else {
            throw .userCredentialsUnusable(reason: "the password is empty or longer than \(Self.passwordLimit) bytes")
        }
        self.name = name
        self.password = password
    }

    /// For `authorization` (MAG 4.3).
    var basic: String { BasicCredentials.header(name: name, secret: password) }
}
