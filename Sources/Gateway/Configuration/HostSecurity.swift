import Cryptography
import HTTPClient

/// A host beside the gateway that may be called, and what it must prove (MAG 1.3).
public struct HostSecurity: Sendable, Equatable {
    /// Lower case.
    public let host: String
    public let port: Int
    /// Whether the host belongs to others: it gets no access token, no device identifier and no client certificate.
    public let isPublic: Bool
    public let anchors: [Certificate]
    public let pins: [PublicKeyPin]
    public let usesPublicAnchors: Bool
    public let checksHostName: Bool

    /// - Throws: ``GatewayError/hostConfigurationInvalid(host:reason:)`` when nothing could prove the host, or its name or
    ///   port is none.
    public init(
        host: String, port: Int, isPublic: Bool = false, anchors: [Certificate] = [], pins: [PublicKeyPin] = [],
        usesPublicAnchors: Bool = false, checksHostName: Bool = true
    ) throws(GatewayError) {
        guard HostName.isValid(host) else {
            throw .hostConfigurationInvalid(host: host, reason: "it is not a host name")
        }
        guard (1...65_535).contains(port) else {
            throw .hostConfigurationInvalid(host: host, reason: "\(port) is not a port")
        }
        guard usesPublicAnchors || !anchors.isEmpty || !pins.isEmpty else {
            throw .hostConfigurationInvalid(host: host, reason: "it has neither anchors nor pins nor public anchors")
        }
        self.host = host.lowercased()
        self.port = port
        self.isPublic = isPublic
        self.anchors = anchors
        self.pins = pins
        self.usesPublicAnchors = usesPublicAnchors
        self.checksHostName = checksHostName
    }
}

extension GatewayConfiguration {
    /// What the gateway itself must prove.
    var ownSecurity: HostSecurity {
        // The parser has checked each part, so this only fails where there is no configuration at all.
        get throws(GatewayError) {
            try HostSecurity(
                host: identity.host, port: identity.port, anchors: anchors, pins: pins,
                usesPublicAnchors: usesPublicAnchors)
        }
    }
}
