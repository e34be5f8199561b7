import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// Reads a server's description of itself (RFC 8414 section 3, OpenID Connect Discovery section 4).
struct Discovery {
    let client: ServerClient
    /// For its authorities.
    let server: ServerConfiguration
    let clock: @Sendable () -> Date

    /// - Throws: ``OAuthAccountError/issuerWrong(expected:found:)`` if the description is of another server
    func metadata(of issuer: String) async throws -> ServerMetadata {
        var fault: any Error = OAuthAccountError.metadataInvalid(issuer: issuer, reason: "its address is not usable")
        for address in try Self.addresses(of: issuer) {
            do {
                return try await metadata(at: address, of: issuer)
            } catch let error as OAuthAccountError {
                // A server may have only one of the two. One that is described wrongly is not asked again.
                // One that wants no request now is not asked for the other.
                switch error {
                case .issuerWrong, .notYet: throw error
                default: fault = error
                }
            }
        }
        throw fault
    }

    private func metadata(at address: String, of issuer: String) async throws -> ServerMetadata {
        var request = try OAuthAccount.request("GET", address, server, judgedAt: clock)
        request.headers.set("Accept", "application/json")
        let response = try await OAuthAccount.send(request, by: client, to: "description")
        guard response.status == 200 else {
            throw OAuthAccountError.metadataInvalid(issuer: issuer, reason: "it answers \(response.status)")
        }
        let metadata: ServerMetadata
        do throws(AnswerFault) {
            metadata = try ServerMetadata(response.body)
        } catch {
            throw OAuthAccountError.metadataInvalid(issuer: issuer, reason: error.reason)
        }
        // RFC 8414 section 3.3: identical, not only equivalent.
        guard metadata.issuer == issuer else {
            throw OAuthAccountError.issuerWrong(expected: issuer, found: metadata.issuer)
        }
        return metadata
    }

    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)``
    static func addresses(of issuer: String) throws(OAuthAccountError) -> [String] {
        guard WebAddress(issuer) != nil, !issuer.contains("?"), let mark = issuer.firstRange(of: "://") else {
            throw .configurationInvalid(reason: "the issuer is neither an https address nor one of this machine")
        }
        let whole = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let end = whole[mark.upperBound...].firstIndex(of: "/") ?? whole.endIndex
        return [
            whole[..<end] + "/.well-known/oauth-authorization-server" + whole[end...],
            whole + "/.well-known/openid-configuration",
        ]
    }
}

extension ServerConfiguration {
    /// Takes over what the server says of itself; what a person named stays.
    ///
    /// - Parameter registers: whether a client is asked for.
    /// - Throws: ``OAuthAccountError/endpointsUnusable(_:)`` if one of them is needed; else they are left out.
    mutating func adopt(_ metadata: ServerMetadata, registers: Bool) throws(OAuthAccountError) {
        var unusable: [ServerMetadata.Endpoint] = []
        for endpoint in ServerMetadata.Endpoint.allCases where endpoints[endpoint] == nil {
            // What refuses such clients is as good as missing: a public client can often not revoke.
            guard metadata.takes(authentication.rawValue, at: endpoint), let address = metadata[endpoint] else {
                continue
            }
            if !Self.takes(address, from: issuer) { unusable.append(endpoint) } else { endpoints[endpoint] = address }
        }
        namesIssuerInAnswers = metadata.namesIssuerInAnswers
        isIssuerAudience = true
        let needed = neededEndpoints + (isOpenID ? [.keys] : []) + (registers ? [.registration] : [])
        guard needed.contains(where: unusable.contains) else { return }
        throw .endpointsUnusable(
            unusable.map { "\($0.rawValue) \(DisplayText.oneLine(metadata[$0] ?? "", limit: 256))" })
    }

    /// A description may name plain services of this machine only where a person has named one as the issuer.
    private static func takes(_ address: String, from issuer: String?) -> Bool {
        guard let address = WebAddress(address) else { return false }
        return address.isProtected || address.origin == issuer.flatMap { WebAddress($0) }?.origin
    }

    /// What would be refused after a person has agreed is refused before.
    ///
    /// - Parameter announced: how the server says that it signs id_tokens.
    func check(signing announced: [String]) throws(OAuthAccountError) {
        guard isOpenID else { return }
        guard secret != nil || endpoints[.keys] != nil else {
            throw .endpointMissing(ServerMetadata.Endpoint.keys.rawValue)
        }
        guard !announced.isEmpty,
            idTokenAlgorithms.isDisjoint(with: announced.compactMap(JWS.Algorithm.init))
        else { return }
        throw .idTokenUnsupported(algorithms: announced)
    }

    /// Whether the grant's assertions are made here.
    var needsKeyForGrant: Bool { grant == .jwtBearer && subject != nil }
}
