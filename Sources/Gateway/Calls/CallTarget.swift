import HTTPClient

/// The address that a call goes to.
enum CallTarget {
    /// A path below the gateway, or an absolute URL.
    ///
    /// - Throws: ``GatewayError/pathInvalid(reason:)``
    static func resolve(_ address: String, at gateway: GatewayIdentity) throws(GatewayError) -> HTTPSAddress {
        do {
            guard address.hasPrefix("/") else { return try HTTPSAddress(address) }
            try HTTPSAddress.checkPath(address)
        } catch {
            throw .pathInvalid(reason: error.reason)
        }
        return HTTPSAddress(host: gateway.host, port: gateway.port, path: gateway.prefixPath + address)
    }
}
