import Cryptography
import HTTPClient

/// A user name and a password, checked for use in requests.
struct UserCredentials: Sendable {
    /// The maximum length of a password, in bytes.
    static let passwordLimit = 1024

    let name: String
    let password: SecretBytes

    /// - Throws: ``GatewayError/userCredentialsUnusable(reason:)``, before anything is sent. The password may contain
    ///   any bytes, because both the header and the form encode them.
    init(name: String, password: SecretBytes) throws(GatewayError) {
        guard HeldUser.isName(name) else {
            throw .userCredentialsUnusable(
                reason: "the user name is empty, longer than \(HeldUser.nameLimit) bytes or has control characters")
        }
        guard (1...Self.passwordLimit).contains(password.count) else {
            throw .userCredentialsUnusable(reason: "the password is empty or longer than \(Self.passwordLimit) bytes")
        }
        self.name = name
        self.password = password
    }

    /// The value of the header `authorization` (MAG 4.3).
    var basic: String { BasicCredentials.header(name: name, secret: password) }
}
