import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Sends requests to the gateway's own endpoints and to configured hosts.
struct GatewayExchange: Sendable {
    let store: HoldingsStore
    let client: HTTPClient
    /// Hosts other than the gateway that may be called (MAG 1.3).
    let hosts: HostList
    /// How the gateway's own certificate must name it.
    let nameCheck: ServerTrust.NameCheck
    let options: SessionOptions
    let contacts = ContactLog()

    private var configuration: GatewayConfiguration { store.configuration }

    // MARK: Hosts

    /// The gateway first, then the additional hosts.
    private var securities: [HostSecurity] {
        get throws(GatewayError) { [try configuration.ownSecurity(nameCheck)] + hosts.all }
    }

    /// - Throws: ``GatewayError/hostNotConfigured(host:)`` (MAG checklist 31), ``GatewayError/stopped``
    func security(of target: HTTPSAddress) throws(GatewayError) -> HostSecurity {
        guard !options.isStopped else { throw .stopped }
        guard let security = try securities.first(where: { $0.host == target.host && $0.port == target.port }) else {
            throw .hostNotConfigured(host: "\(target.host):\(target.port)")
        }
        return security
    }

    /// How a host must prove its identity, on any port.
    ///
    /// - Throws: ``GatewayError/hostNotConfigured(host:)``, ``GatewayError/stopped``
    func trust(for host: String) throws(GatewayError) -> ServerTrust {
        guard !options.isStopped else { throw .stopped }
        let host = host.lowercased()
        guard let security = try securities.first(where: { $0.host == host }) else {
            throw .hostNotConfigured(host: host)
        }
        return trust(security)
    }

    func trust(_ host: HostSecurity) -> ServerTrust {
        host.security.trust(of: host.host, judgedAt: store.clocks.date)
    }

    // MARK: Requests

    /// Secrets that must not be repeated from an answer.
    static let echoes = SecretEchoes.oauth.with(
        fields: ["sessionData"], headers: ["client-authorization", "code-verifier", "id-token"])

    /// The maximum size of an answer from the gateway's own endpoints, in bytes.
    static var ownResponseLimit: Int { 1 << 20 }

    /// A request to an address of a configured host, without any of our credentials.
    func publicRequest(
        _ method: String, _ address: String
    ) throws(GatewayError) -> (request: HTTPRequest, host: HostSecurity) {
        let target = try CallTarget.resolve(address, at: configuration.identity)
        let host = try security(of: target)
        var request = HTTPRequest(method, target.url, trust: trust(host))
        request.responseLimit = Self.ownResponseLimit
        return (request, host)
    }

    /// A request to an address from the gateway itself, such as that of an endpoint, with the registration's headers
    /// and certificate (MAG checklist 15, 17). It may be on another host; a public one gets none of them.
    func request(
        _ method: String, at address: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil
    ) async throws -> HTTPRequest {
        var (request, host) = try publicRequest(method, address)
        request.headers = headers
        request.body = body
        if !host.isPublic {
            let held = try await store.holdings()
            if let device = held.device { request.headers.set("mag-identifier", device.magIdentifier) }
            request.identity = held.identity
        }
        return request
    }

    // MARK: Answers

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
        // Form bodies contain secrets, and the client no longer has a reference to this one.
        if request.body != nil { wipe(&request.body!) }
        noteContact(by: request)
        return response
    }

    /// Notes that a request was answered, if it was to the gateway and not to another host.
    func noteContact(by request: HTTPRequest) {
        let identity = configuration.identity
        guard let target = try? HTTPSAddress(request.url), target.host == identity.host, target.port == identity.port
        else { return }
        contacts.noteContact(at: store.clocks.date())
    }

    /// Sends like ``send(_:for:)``, but only a 200 counts as success.
    /// - Throws: also ``GatewayError/refused(_:)`` and ``GatewayError/unexpectedAnswer(_:status:reason:)``.
    func succeed(_ request: consuming HTTPRequest, for operation: GatewayOperation) async throws -> HTTPResponse {
        let response = try await send(request, for: operation)
        guard response.status == 200 else { throw GatewayError.failure(response, operation) }
        return response
    }
}

extension GatewayError {
    /// The error for an answer that is not a success.
    static func failure(_ response: HTTPResponse, _ operation: GatewayOperation) -> GatewayError {
        if let refusal = Refusal(response, to: operation) { return .refused(refusal) }
        return .unexpectedAnswer(operation, status: response.status, reason: "without the gateway's x-ca-err")
    }
}
