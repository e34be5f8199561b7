import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// The configuration as a sealed record.
extension ServerConfiguration {
    var document: JSON {
        var members: [String: JSON] = [
            "client_id": .string(clientID), "authentication": .string(authentication.rawValue),
            "algorithm": .string(algorithm.rawValue), "grant": .string(grant.rawValue), "scope": .string(scope),
            "redirect_uri": .string(redirectURI), "names_issuer": .bool(namesIssuerInAnswers),
            "issuer_audience": .bool(isIssuerAudience),
            "resources": .array(resources.map(JSON.string)),
            "endpoints": .object(
                Dictionary(uniqueKeysWithValues: endpoints.map { ($0.key.rawValue, .string($0.value)) })),
        ]
        members["issuer"] = issuer.map(JSON.string)
        members["secret"] = secret.map { .string($0.exposedText()) }
        members["secret_expires"] = secretExpires.map { .number($0.timeIntervalSince1970) }
        members["key"] = key.map { .string($0.description) }
        members["authorities"] = authorities.map(JSON.string)
        members["subject"] = subject.map(JSON.string)
        members["audience"] = audience.map(JSON.string)
        members["registration_token"] = registrationToken.map { .string($0.exposedText()) }
        members["registration_address"] = registrationAddress.map(JSON.string)
        return .object(members)
    }

    /// - Throws: ``OAuthAccountError/recordInvalid(account:)``
    init(_ document: JSON, of account: String) throws(OAuthAccountError) {
        self.init()
        guard let id = document["client_id"]?.string,
            let authentication = document["authentication"]?.string.flatMap(Authentication.init),
            let algorithm = document["algorithm"]?.string.flatMap(JWS.Algorithm.init),
            let grant = document["grant"]?.string.flatMap(Grant.init), let scope = document["scope"]?.string,
            let redirectURI = document["redirect_uri"]?.string, let endpoints = document["endpoints"]?.object
        else { throw .recordInvalid(account: account) }
        (clientID, self.authentication, self.algorithm, self.grant) = (id, authentication, algorithm, grant)
        (self.scope, self.redirectURI) = (scope, redirectURI)
        for (name, address) in endpoints {
            guard let endpoint = ServerMetadata.Endpoint(rawValue: name) else { continue }
            self.endpoints[endpoint] = address.string
        }
        issuer = document["issuer"]?.string
        secret = document["secret"]?.string.map { SecretBytes(utf8: $0) }
        secretExpires = document["secret_expires"]?.number.map { Date(timeIntervalSince1970: $0) }
        key = document["key"]?.string.flatMap { KeyReference($0) }
        namesIssuerInAnswers = document["names_issuer"]?.bool ?? false
        isIssuerAudience = document["issuer_audience"]?.bool ?? false
        audience = document["audience"]?.string
        authorities = document["authorities"]?.string
        resources = document["resources"]?.array?.compactMap(\.string) ?? []
        subject = document["subject"]?.string
        registrationToken = document["registration_token"]?.string.map { SecretBytes(utf8: $0) }
        registrationAddress = document["registration_address"]?.string
        do {
            try check()
        } catch {
            throw .recordInvalid(account: account)
        }
    }
}
