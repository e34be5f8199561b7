import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// Calls of APIs with the account's token (RFC 6750 section 2.1).
extension OAuthAccount {
    /// - Parameters:
    ///   - target: an address at one of the account's resources, or a path below the first.
    ///   - headers: without `Authorization`.
    /// - Returns: any answer. A token that the API refuses is replaced once, and the call repeated.
    /// - Throws: ``OAuthAccountError/hostNotAllowed(host:)`` and others
    public func call(
        _ method: String, _ target: String, headers: HTTPHeaders, body: [UInt8]?, scope: String? = nil
    ) async throws -> HTTPResponse {
        let address = try resource(target)
        guard headers.first("Authorization") == nil else {
            throw OAuthAccountError.configurationInvalid(reason: "the header Authorization is the account's own")
        }
        let token = try await token(scope: scope)
        let response = try await send(method, address, headers, body, token)
        guard response.status == 401 else { return response }
        try await drop(token)
        guard let other = try? await self.token(scope: scope), other.value != token.value else { return response }
        return try await send(method, address, headers, body, other)
    }

    private func send(
        _ method: String, _ address: String, _ headers: HTTPHeaders, _ body: [UInt8]?, _ token: AccessToken
    ) async throws -> HTTPResponse {
        var request = try Self.request(method, address, server, judgedAt: clock)
        request.responseLimit = HTTPRequest.defaultResponseLimit
        // The program gets what the API sent.
        request.decodesBody = false
        request.headers = headers
        request.headers.set("Authorization", "Bearer \(token.value.exposedText())")
        request.body = body
        return try await client.http.send(request)
    }

    private func resource(_ target: String) throws(OAuthAccountError) -> String {
        let origins = server.resources.compactMap { WebAddress($0)?.origin }
        if target.hasPrefix("/"), let base = server.resources.first, (try? HTTPSAddress.checkPath(target)) != nil {
            return (base.hasSuffix("/") ? String(base.dropLast()) : base) + target
        }
        guard let place = WebAddress(target), origins.contains(place.origin) else {
            throw .hostNotAllowed(host: WebAddress(target)?.host ?? "that address")
        }
        return target
    }
}
