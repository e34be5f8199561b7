public import Cryptography
import HTTPClient

/// A host other than the gateway that may be called, and how it must prove its identity (MAG 1.3).
@dynamicMemberLookup
public struct HostSecurity: Sendable, Equatable {
    /// As `HostName.canonical` writes it.
    public let host: String
    public let port: Int
    /// Whether the host is a third party's: it gets no access token, no device identifier and no client certificate.
    public let isPublic: Bool
    public let security: ServerSecurity
    /// The limit of a call, unless the call says otherwise.
    public private(set) var timeout: Duration?

    /// `host:port`
    public var name: String { "\(host):\(port)" }

    /// - Throws: ``GatewayError/hostConfigurationInvalid(host:reason:)`` with an invalid name or port,
    ///   ``GatewayError/hostTrustMissing(host:)`` without any means to verify the host.
    public init(
        host: String, port: Int, isPublic: Bool = false, _ security: ServerSecurity, timeout: Duration? = nil
    ) throws(GatewayError) {
        guard let name = HostName.canonical(host) else {
            throw .hostConfigurationInvalid(
                host: host, reason: "it is not a host name or an IP address, IPv6 in brackets without a zone")
        }
        guard (1...65_535).contains(port) else {
            throw .hostConfigurationInvalid(host: host, reason: "\(port) is not a port")
        }
        guard security.isProvable else { throw .hostTrustMissing(host: host) }
        self.host = name
        self.port = port
        self.isPublic = isPublic
        self.security = security
        self.timeout = timeout
    }

    /// The same with the parts of the security.
    public init(
        host: String, port: Int, isPublic: Bool = false, anchors: [Certificate] = [], pins: [PublicKeyPin] = [],
        usesPublicAnchors: Bool = false, nameCheck: ServerTrust.NameCheck = .strict, timeout: Duration? = nil
    ) throws(GatewayError) {
        let security = ServerSecurity(
            anchors: anchors, usesPublicAnchors: usesPublicAnchors, pins: pins, nameCheck: nameCheck)
        try self.init(host: host, port: port, isPublic: isPublic, security, timeout: timeout)
    }

    public subscript<Value>(dynamicMember member: KeyPath<ServerSecurity, Value>) -> Value { security[keyPath: member] }

    /// Whether it is the same host, proves itself in the same way, and gets the same.
    func isTrusted(as other: HostSecurity) -> Bool {
        var same = other
        same.timeout = timeout
        return same == self
    }
}

extension GatewayConfiguration {
    /// How the gateway itself must prove its identity.
    func ownSecurity(_ nameCheck: ServerTrust.NameCheck) throws(GatewayError) -> HostSecurity {
        var security = security
        security.nameCheck = nameCheck
        // The parser has checked each part, so this cannot fail for a valid configuration.
        return try HostSecurity(host: identity.host, port: identity.port, security)
    }
}
