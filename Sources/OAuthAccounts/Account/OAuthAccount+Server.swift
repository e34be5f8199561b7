import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// Requests to the server's endpoints. Its answers are read within bounds, and no redirect is followed.
extension OAuthAccount {
    private static let timeout = Duration.seconds(30)

    /// - Throws: ``OAuthAccountError/endpointMissing(_:)``
    func address(of endpoint: ServerMetadata.Endpoint) throws(OAuthAccountError) -> String {
        guard let address = server.endpoints[endpoint] else { throw .endpointMissing(endpoint.rawValue) }
        return address
    }

    /// A token of a grant.
    func request(_ grant: GrantRequest) async throws -> TokenAnswer {
        var form = FormBody([("grant_type", grant.type)])
        if let scope = grant.scope, !scope.isEmpty { form.add("scope", scope) }
        let response = try await post(.token, form, grant.fields)
        switch OAuthRefusals().judge(response) {
        case .granted(let answer): return answer
        case .refused(let refusal, _): throw OAuthAccountError.refused(endpoint: Self.name(.token), refusal)
        case .unusable(let fault):
            throw OAuthAccountError.answerInvalid(endpoint: Self.name(.token), reason: fault.reason)
        case .notFromServer: throw OAuthAccountError.noAnswer(endpoint: Self.name(.token), status: response.status)
        }
    }

    /// Posts a form as this client.
    ///
    /// - Returns: any answer but a redirect.
    func post(
        _ endpoint: ServerMetadata.Endpoint, _ form: FormBody, _ secrets: [(name: String, value: SecretBytes)]
    ) async throws -> HTTPResponse {
        let address = try address(of: endpoint)
        var request = try Self.request("POST", address, server, judgedAt: clock)
        let audience = server.audience ?? (server.isIssuerAudience ? server.issuer : nil) ?? server.endpoints[.token]
        try await proof().fill(
            &request, client: server.clientID, form: form, secrets: secrets,
            audience: audience ?? address, now: clock())
        return try await Self.send(request, by: client, to: Self.name(endpoint))
    }

    private func proof() async throws -> ClientProof {
        switch server.authentication {
        case .none: .none
        case .basic: .basic(server.secret ?? SecretBytes([]))
        case .post: .post(server.secret ?? SecretBytes([]))
        case .privateKey: .signed(try await assertions())
        }
    }

    /// What signs with the account's key.
    ///
    /// - Throws: ``OAuthAccountError/recordInvalid(account:)`` if the key is gone
    func assertions() async throws -> SignedAssertion {
        guard let reference = server.key, let key = try await vault.keys(of: scope).key(reference) else {
            throw OAuthAccountError.recordInvalid(account: name)
        }
        return SignedAssertion(key: key, keyID: reference.name, algorithm: server.algorithm)
    }

    /// The assertion for the grant of RFC 7523 section 2.1.
    func ownAssertion() async throws -> SecretBytes {
        try await assertions().make(
            issuer: server.clientID, subject: server.subject ?? server.clientID,
            audience: try server.audience ?? address(of: .token), now: clock())
    }

    /// The public key, for the server's administrator.
    public func publicKey() async throws -> JSON? {
        guard server.key != nil else { return nil }
        return try await assertions().publicKey
    }

    /// How an endpoint is called in errors.
    static func name(_ endpoint: ServerMetadata.Endpoint) -> String { endpoint.rawValue }

    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)`` for an address that nothing is sent to
    static func request(
        _ method: String, _ address: String, _ server: ServerConfiguration, judgedAt: @escaping @Sendable () -> Date
    ) throws -> HTTPRequest {
        guard let place = WebAddress(address) else {
            throw OAuthAccountError.configurationInvalid(
                reason: "an address is neither https nor of this machine")
        }
        var request = HTTPRequest(method, to: place, by: try server.security, judgedAt: judgedAt)
        request.timeout = timeout
        request.handshakeTimeout = timeout
        request.responseLimit = JSONAnswer.limit
        request.decodesBody = true
        return request
    }

    static func send(
        _ request: HTTPRequest, by client: ServerClient, to endpoint: String
    ) async throws -> HTTPResponse {
        var response = try await client.send(request, to: endpoint)
        guard !(300..<400).contains(response.status) else { throw OAuthAccountError.redirected(endpoint: endpoint) }
        if !response.isSuccess {
            response.body = SecretEchoes.oauth.removed(from: response.body, of: request)
        }
        return response
    }

    /// The refusal of an endpoint other than the token endpoint, as an error.
    static func failure(_ response: HTTPResponse, of endpoint: String) -> OAuthAccountError {
        guard let refusal = OAuthRefusals().refusal(in: response) else {
            return .noAnswer(endpoint: endpoint, status: response.status)
        }
        return .refused(endpoint: endpoint, refusal)
    }

    /// Reads an answer of the server.
    static func read<Value>(
        _ endpoint: String, _ parse: () throws(AnswerFault) -> Value
    ) throws(OAuthAccountError) -> Value {
        do {
            return try parse()
        } catch {
            throw .answerInvalid(endpoint: endpoint, reason: error.reason)
        }
    }
}
