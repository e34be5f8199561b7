import Cryptography
import FoundationEssentials
import HTTPClient
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

/// Parses the answer to client initialization. Pure.
enum InitializationAnswer {
    /// - Throws: the reason, without any values.
    static func credentials(_ body: [UInt8], masterID: String) throws(AnswerFault) -> ClientCredentials {
        let answer = try JSONAnswer(body)
        let id = try answer.requiredPlainText("client_id")
        let secret = try answer.requiredPlainText("client_secret")
        guard let expiration = answer["client_expiration"]?.seconds, expiration >= 0 else {
            throw AnswerFault("client_expiration is missing or not a number of seconds")
        }
        let authentication = ClientAuthentication(
            id: id, secret: SecretBytes(utf8: secret),
            expires: expiration == 0 ? nil : Date(timeIntervalSince1970: expiration))
        return ClientCredentials(masterID: masterID, authentication: authentication, isStatic: false)
    }
}
