import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// Requests to the gateway's own endpoints.
extension GatewaySession {
    /// The gateway first, then the additional hosts.
    nonisolated var securities: [HostSecurity] {
        get throws(GatewayError) { [try configuration.ownSecurity] + hosts }
    }

    /// - Throws: ``GatewayError/hostNotConfigured(host:)`` (MAG checklist 31).
    nonisolated func security(of target: HTTPSAddress) throws(GatewayError) -> HostSecurity {
        guard let security = try securities.first(where: { $0.host == target.host && $0.port == target.port }) else {
            throw .hostNotConfigured(host: "\(target.host):\(target.port)")
        }
        return security
    }

    nonisolated func trust(_ security: HostSecurity) -> ServerTrust {
        var trust = ServerTrust(
            host: security.host, anchors: security.anchors, usesPublicAnchors: security.usesPublicAnchors,
            pins: security.pins)
        trust.checksHostName = security.checksHostName
        trust.judgedAt = clock
        return trust
    }

    /// What an answer must not repeat.
    static let echoes = SecretEchoes.oauth.with(
        fields: ["sessionData"], headers: ["client-authorization", "code-verifier", "id-token"])

    /// The most bytes of an answer of the gateway's own endpoints.
    static var ownResponseLimit: Int { 1 << 20 }

    /// A request to an address of a configured host, with nothing of ours in it.
    nonisolated func publicRequest(_ method: String, _ address: String) throws(GatewayError) -> HTTPRequest {
        try plainRequest(method, address).request
    }

    private nonisolated func plainRequest(
        _ method: String, _ address: String
    ) throws(GatewayError) -> (request: HTTPRequest, host: HostSecurity) {
        let target = try CallTarget.resolve(address, at: configuration.identity)
        let host = try security(of: target)
        var request = HTTPRequest(method, target.url, trust: trust(host))
        request.responseLimit = Self.ownResponseLimit
        return (request, host)
    }

    /// A request to one of the gateway's endpoints, with what the registration adds (MAG checklist 15, 17). An endpoint may lie on
    /// another host; a public one gets nothing of ours.
    func request(
        _ method: String, _ endpoint: GatewayEndpoint, query: String = "", headers: HTTPHeaders = [:],
        body: [UInt8]? = nil
    ) async throws -> HTTPRequest {
        try await request(
            method, at: (configuration.endpoints[endpoint] ?? endpoint.defaultPath) + query, headers: headers,
            body: body)
    }

    /// A request to an address that the gateway itself has named, with what the registration adds.
    func request(
        _ method: String, at address: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil
    ) async throws -> HTTPRequest {
        var (request, host) = try plainRequest(method, address)
        request.headers = headers
        request.body = body
        if !host.isPublic, let device = try await holdings().device {
            request.headers.set("mag-identifier", device.magIdentifier)
            request.identity = device.identity
        }
        return request
    }

    /// - Throws: ``GatewayError/noAnswer(_:_:)``, or `CancellationError`.
    func send(_ request: consuming HTTPRequest, for operation: GatewayOperation) async throws -> HTTPResponse {
        var request = request
        var response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw GatewayError.noAnswer(operation, error)
        }
        if !response.isSuccess { response.body = Self.echoes.removed(from: response.body, of: request) }
        // Form bodies hold secrets; the client is done with its reference.
        if request.body != nil { wipe(&request.body!) }
        noteContact()
        return response
    }

    /// As ``send(_:for:)``, and nothing but a 200 will do.
    /// - Throws: also ``GatewayError/refused(_:)`` and ``GatewayError/unexpectedAnswer(_:status:reason:)``.
    func succeed(_ request: consuming HTTPRequest, for operation: GatewayOperation) async throws -> HTTPResponse {
        let response = try await send(request, for: operation)
        guard response.status == 200 else { throw GatewayError.failure(response, operation) }
        return response
    }
}

extension GatewayError {
    /// What an answer that is no success says.
    static func failure(_ response: HTTPResponse, _ operation: GatewayOperation) -> GatewayError {
        if let refusal = Refusal(response, to: operation) { return .refused(refusal) }
        return .unexpectedAnswer(operation, status: response.status, reason: "without the gateway's x-ca-err")
    }
}
