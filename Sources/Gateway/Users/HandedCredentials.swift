import Cryptography
import HTTPClient
import OAuth

/// An authorization code that a program obtained by itself, with what it needs to be used (MAG 4.3, 5.6).
public struct HandedCode: Sendable {
    /// The maximum length of the code and of the verifier, in bytes.
    static let limit = 1024

    let value: SecretBytes
    let verifier: SecretBytes?
    let redirectURI: String?

    /// - Parameters:
    ///   - verifier: of PKCE; `nil` if the code was requested without a challenge.
    ///   - redirectURI: as it was in the authorization request; `nil` for the configured one.
    /// - Throws: ``GatewayError/userCredentialsUnusable(reason:)``, before anything is sent: all of them become header
    ///   fields at a registration.
    public init(_ code: String, verifier: String?, redirectURI: String?) throws(GatewayError) {
        guard HTTPHeaders.isPlainValue(code), code.utf8.count <= Self.limit else {
            throw .userCredentialsUnusable(
                reason: "the code is empty, longer than \(Self.limit) bytes or not printable")
        }
        // RFC 7636 section 4.1, and the longest that gateways accept (MAG 5.6).
        guard verifier.map({ HTTPHeaders.isPlainValue($0) && (43...256).contains($0.utf8.count) }) ?? true else {
            throw .userCredentialsUnusable(reason: "the verifier does not have 43 to 256 printable characters")
        }
        guard redirectURI.map({ HTTPHeaders.isPlainValue($0) && $0.utf8.count <= Self.limit }) ?? true else {
            throw .userCredentialsUnusable(reason: "the redirect URI is too long or not printable")
        }
        value = SecretBytes(utf8: code)
        self.verifier = verifier.map { SecretBytes(utf8: $0) }
        self.redirectURI = redirectURI
    }
}

/// A JWT that another server issued for a user, such as the id_token of an identity provider that the gateway trusts
/// (MAG 4.3, 5.1; RFC 7523). The gateway alone judges it: this board does not know its issuer.
public struct UserAssertion: Sendable {
    /// The maximum length of the token, in bytes: it is a header field at a registration.
    static let limit = 8192
    static let grantName = "assertion"

    let token: SecretBytes
    let type: String

    /// - Parameter type: the grant type, a URI (RFC 6749 section 4.5); `nil` for that of a JWT.
    /// - Throws: ``GatewayError/userCredentialsUnusable(reason:)``, before anything is sent.
    public init(_ token: String, type: String? = nil) throws(GatewayError) {
        guard HTTPHeaders.isPlainValue(token), token.utf8.count <= Self.limit else {
            throw .userCredentialsUnusable(
                reason: "the token is empty, longer than \(Self.limit) bytes or not printable")
        }
        let type = type ?? HeldIDToken.jwtBearer
        guard HTTPHeaders.isPlainValue(type), type.contains(":"), type.utf8.count <= 256 else {
            throw .userCredentialsUnusable(reason: "the type of the token is not a URI of at most 256 bytes")
        }
        self.token = SecretBytes(utf8: token)
        self.type = type
    }
}
