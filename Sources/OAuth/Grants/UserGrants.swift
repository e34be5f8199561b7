import Cryptography

/// The grant for a user name and password (RFC 6749 section 4.3).
public struct PasswordGrant: Grant {
    public static let name = "password"

    let userName: String
    let password: SecretBytes
    let scope: String?
    public var name: String { Self.name }

    public init(userName: String, password: SecretBytes, scope: String?) {
        self.userName = userName
        self.password = password
        self.scope = scope
    }

    public var request: GrantRequest {
        GrantRequest(
            type: Self.name, fields: [("username", SecretBytes(utf8: userName)), ("password", password)], scope: scope)
    }
}

/// The grant for a code that the server issued when a user authorized this client (RFC 6749 section 4.1.3, RFC 7636
/// section 4.5). The code works once.
public struct AuthorizationCodeGrant: Grant {
    public static let name = "authorization_code"

    let code: SecretBytes
    let verifier: SecretBytes?
    let redirectURI: String?
    let scope: String?
    public var name: String { Self.name }

    /// - Parameters:
    ///   - verifier: `nil` for a code that was requested without a challenge.
    ///   - redirectURI: as it was in the ``AuthorizationRequest``.
    public init(code: SecretBytes, verifier: SecretBytes?, redirectURI: String?, scope: String?) {
        self.code = code
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.scope = scope
    }

    public var request: GrantRequest {
        var fields = [("code", code)]
        if let verifier { fields.append(("code_verifier", verifier)) }
        if let redirectURI { fields.append(("redirect_uri", SecretBytes(utf8: redirectURI))) }
        return GrantRequest(type: Self.name, fields: fields, scope: scope)
    }
}

/// The grant for a code that a device shows, once its user has agreed elsewhere (RFC 8628 section 3.4).
public struct DeviceCodeGrant: Grant {
    public static let name = "urn:ietf:params:oauth:grant-type:device_code"

    let code: SecretBytes
    public var name: String { Self.name }

    public init(code: SecretBytes) { self.code = code }

    public var request: GrantRequest {
        GrantRequest(type: Self.name, fields: [("device_code", code)], scope: nil)
    }
}
