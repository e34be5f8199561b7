import Cryptography
import GatewayLab
import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import Gateway

extension GatewaySession {
    /// A new access token, even if the current one is still valid.
    @discardableResult
    func refreshedToken() async throws -> AccessToken {
        try await dropAccessToken()
        return try await accessToken()
    }

    /// Logs one of the lab's people in.
    @discardableResult
    func logIn(_ name: String) async throws -> UserStatus {
        try await logIn(userName: name, password: SecretBytes(utf8: name + "-password"))
    }

    /// Whom the gateway takes a call for; `nil` is the board itself.
    func greeted(as principal: Principal) async throws -> String? {
        let response = try await call(method: "GET", path: "/lab/hello", as: principal)
        try #require(response.status == 200)
        return try JSON(parsing: response.body)["user"]?.string
    }

    /// The code that a poll has to bring.
    func code(of session: AuthorizationSession) async throws -> AuthorizationCode {
        guard case .code(let code) = try await poll(session) else { throw GatewayError.proximityNotOffered }
        return code
    }
}

extension AuthorizationSession {
    /// What a QR code or a Bluetooth request carries.
    var providerURL: String { get throws { try #require(proximity).authURL } }
}
