import HTTPClient

/// What protected calls may say of the board beside who it is: where it is, and its telephone number (MAG 6.1, 6.5).
///
/// Either is sent only if the gateway's configuration wants it too.
public struct Geolocation: Sendable {
    /// Finds out where the board is; `nil` if that is not disclosed. Its parameter says whether an API demands it, so
    /// that it may take longer.
    public var locate: (@Sendable (_ isDemanded: Bool) async -> Location?)?
    public var telephoneNumber: String?

    public init(
        locate: (@Sendable (_ isDemanded: Bool) async -> Location?)? = nil, telephoneNumber: String? = nil
    ) {
        (self.locate, self.telephoneNumber) = (locate, telephoneNumber)
    }
}

extension Calls {
    /// Sends a protected request with what the gateway may know of the geolocation, and once more if the API demands a
    /// location that was not known before (MAG 6.5). Headers of the caller's own stay.
    ///
    /// - Throws: ``GatewayError/locationUnavailable(_:)``, what `send` throws
    func attachingGeolocation(
        _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> CallAnswer
    ) async throws -> CallAnswer {
        var request = request
        let configuration = operations.parts.store.configuration
        let header = "geo-location"
        if configuration.sendsTelephoneNumber, let number = geolocation.telephoneNumber {
            request.headers.setUnlessGiven("MSISDN", number)
        }
        let locate = configuration.sendsLocation ? geolocation.locate : nil
        if request.headers.first(header) == nil, let location = await locate?(false) {
            request.headers.set(header, location.header)
        }
        let answer = try await send(request)
        guard request.headers.first(header) == nil, let response = answer.response,
            CallVerdict.demand(of: response) == .locationDemanded(status: 449)
        else { return answer }
        guard configuration.sendsLocation else { throw GatewayError.locationUnavailable(.notEnabled) }
        guard let locate else { throw GatewayError.locationUnavailable(.off) }
        guard let location = await locate(true) else { throw GatewayError.locationUnavailable(.noFix) }
        request.headers.set(header, location.header)
        return try await send(request)
    }
}

extension HTTPHeaders {
    fileprivate mutating func setUnlessGiven(_ name: String, _ value: String) {
        if first(name) == nil { set(name, value) }
    }
}
