import Cryptography
import OAuth

/// This client's credentials at the token endpoint, and their origin (MAG 3).
struct ClientCredentials: Sendable, Equatable {
    /// The id that an administrator set up and with which these credentials were obtained.
    let masterID: String
    let authentication: ClientAuthentication
    /// Whether they come from the configuration; then client initialization is never used (MAG checklist 8).
    let isStatic: Bool

    var id: String { authentication.id }
}

extension GatewayConfiguration {
    /// The credentials in the configuration itself.
    var staticCredentials: ClientCredentials? {
        staticSecret.map {
            ClientCredentials(
                masterID: masterClientID,
                authentication: ClientAuthentication(id: masterClientID, secret: $0, expires: nil), isStatic: true)
        }
    }
}
