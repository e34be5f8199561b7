import HTTPClient

/// The address that a call goes to.
enum CallTarget {
    /// What a caller asks for: an address, or `@` and the name of an endpoint of the configuration (MAG 1.1, `custom`).
    ///
    /// - Throws: ``GatewayError/pathInvalid(reason:)``, ``GatewayError/endpointUnknown(name:known:)``
    static func resolve(_ address: String, by configuration: GatewayConfiguration) throws(GatewayError) -> HTTPSAddress
    {
        let address = address.hasPrefix("@") ? try configuration.address(ofEndpoint: address.dropFirst()) : address
        return try resolve(address, at: configuration.identity)
    }

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
