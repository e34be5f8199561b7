import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// One request and its answer, within bounds. No redirect is followed.
struct MPinExchange: Sendable {
    let client: HTTPClient
    let configuration: MPinConfiguration
    let clock: @Sendable () -> Date

    /// A request, and what its status means.
    struct Order {
        let endpoint: Endpoint
        let method: String
        /// Where to, query included.
        let address: String
        /// For messages: without the user's identity.
        let place: String
        var body: [UInt8]?
        var timeout = MPinExchange.timeout

        /// - Parameters:
        ///   - base: an address of the settings, also named in messages.
        ///   - rest: appended to it.
        init(_ endpoint: Endpoint, _ method: String, _ base: String, _ rest: String = "", body: [UInt8]? = nil) {
            self.endpoint = endpoint
            self.method = method
            address = base + rest
            place = DisplayText.oneLine(String(base.prefix { $0 != "?" }), limit: 256)
            self.body = body
        }
    }

    private static let timeout = Duration.seconds(30)
    /// A back end may hold the answer for ten seconds, until a browser comes (MPIN 5.10).
    static let patience = Duration.seconds(60)

    /// - Throws: ``MPinError``, `CancellationError`
    func answer(_ order: Order) async throws -> Answer {
        let response = try await response(order, limit: Answer.limit)
        if let failure = order.endpoint.failure(status: response.status, at: order.place) { throw failure }
        return try Answer(response.body, from: order.place)
    }

    /// Any answer.
    func response(_ order: Order, limit: Int) async throws -> HTTPResponse {
        let request = try request(order, limit: limit)
        do throws(HTTPError) {
            return try await client.send(request)
        } catch {
            switch error {
            case .cancelled: throw CancellationError()
            // What came is an answer, but none that can be used.
            case .responseTooLarge: throw MPinError.answerInvalid(place: order.place, reason: "it is too long")
            case .tls(_, let refusal): throw MPinError.notTrusted(place: order.place, refusal: refusal)
            default: throw MPinError.noAnswer(place: order.place, reason: Self.reason(error))
            }
        }
    }

    /// Without the whole address, which names the user's identity.
    private static func reason(_ error: HTTPError) -> String {
        switch error {
        case .timeout: "there was none in time"
        case .connectionLost(_, let reason): "the connection ended: \(reason)"
        case .malformedResponse, .responseHeadTooLarge: "what came is not HTTP, or too long"
        default: error.message
        }
    }

    private func request(_ order: Order, limit: Int) throws(MPinError) -> HTTPRequest {
        // Plain services of this machine only where a person has named one: what a back end names is not theirs.
        guard let address = WebAddress(order.address),
            address.isProtected || address.origin == WebAddress(configuration.settingsURL)?.origin
        else {
            throw .noAnswer(
                place: order.place.isEmpty ? "an endpoint without address" : order.place,
                reason: "its address is neither https nor at the back end's own on this machine")
        }
        var request = HTTPRequest(order.method, to: address, by: try configuration.security, judgedAt: clock)
        for field in configuration.headers.fields { request.headers.add(field.name, field.value) }
        if let id = configuration.clientID { request.headers.set("X-MIRACL-Client-ID", id) }
        if let body = order.body {
            request.headers.set("Content-Type", "application/json; charset=UTF-8")
            request.headers.set("Accept", "text/plain")
            request.body = body
        }
        request.timeout = order.timeout
        request.handshakeTimeout = Self.timeout
        request.responseLimit = limit
        return request
    }
}
