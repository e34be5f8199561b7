import Groundwork
import HTTPClient

/// Sessions in browsers: who asks, and their end (MPIN 5.11, 5.12).
extension MPinBackend {
    /// Who asks for an access code of a scanned code. All is empty if the back end does not say.
    ///
    /// - Throws: ``MPinError``
    public func sessionDetails(_ accessCode: String) async throws -> MPinSessionDetails {
        try await alone(endsWithCaller: true) { backend in
            let place = try backend.connected()[.codeStatus]
            guard !place.isEmpty else { return MPinSessionDetails() }
            let body: JSON = ["status": "wid", "wid": .string(accessCode)]
            return try MPinSessionDetails(
                try await backend.exchange.answer(.init(.codeStatus, "POST", place, body: body.bytes)))
        }
    }

    /// Whether the user's login in a browser can be ended from here.
    ///
    /// - Throws: ``MPinError/noSuchUser``
    public func canLogOut(_ user: MPinUser) throws(MPinError) -> Bool { try find(user).logOut != nil }

    /// Ends the user's login in a browser.
    ///
    /// - Returns: `false` if there is nothing that could be ended from here.
    /// - Throws: ``MPinError``; it can be tried again then.
    public func logOut(_ user: MPinUser) async throws -> Bool {
        try await alone(endsWithCaller: true) { backend in
            try backend.connected()
            guard let order = try backend.find(user).logOut else { return false }
            let request = MPinExchange.Order(.logOut, "POST", backend.absolute(order.url), body: order.body)
            // Its body may be anything.
            let response = try await backend.exchange.response(request, limit: Answer.limit)
            if let failure = Endpoint.logOut.failure(status: response.status, at: request.place) { throw failure }
            backend.held?[user.id]?.logOut = nil
            return true
        }
    }

    private func absolute(_ url: String) -> String {
        if url.hasPrefix("https://") || url.hasPrefix("http://") { return url }
        return configuration.url + (url.hasPrefix("/") ? "" : "/") + url
    }
}
